// What the room looks like at a moment: everything that happened up to it, folded.

const WEIGHT = { stage: 3, call: 1, vote: 0.4, tally: 3, look: 0.6, act: 2, note: 0.6, verdict: 4 };

/** The run as it stood after the moment `at` (-1: nothing yet). */
function standing(scene, at) {
  const now = { stage: null, votes: new Map(), ballots: [], offers: new Map(), last: new Map(), called: null, moment: null, speaker: "" };
  let decided = false;  // and nothing new put forward since
  for (let i = 0; i <= at && i < scene.moments.length; i += 1) {
    const moment = scene.moments[i];
    now.moment = moment;
    if (moment.kind === "stage") {
      now.stage = moment; now.called = null;
      if (decided) now.offers.clear();  // what was put forward stands until it is voted on
    } else if (moment.kind === "call") {
      now.last.set(moment.member, moment);
      now.called = moment;
      if (moment.side && decided && !scene.carries) now.votes.clear();
      if (moment.side) { now.offers.set(moment.side, moment); decided = false; }
    } else if (moment.kind === "vote") {
      let ballot = now.ballots.find((one) => one.path === moment.ballot);
      if (!ballot) {
        ballot = { path: moment.ballot, stage: moment.stage, name: scene.ballots[moment.ballot] || moment.ballot, votes: new Map(), tally: null };
        now.ballots.push(ballot);
        if (!scene.carries) now.votes.clear();
      }
      ballot.votes.set(moment.member, moment);
      now.votes.set(moment.member, moment);
    } else if (moment.kind === "verdict") {
      now.offers.clear();
    } else if (moment.kind === "tally") {
      decided = true;
      const ballot = now.ballots.find((one) => one.path === moment.ballot);
      if (ballot) ballot.tally = moment;
    }
  }
  if (now.moment && (now.moment.kind === "call" || now.moment.kind === "vote")) now.speaker = now.moment.member;
  now.ballot = now.ballots[now.ballots.length - 1] || null;
  return now;
}

function changed(vote) {
  return Boolean(vote && vote.choice && vote.before && vote.choice !== vote.before);
}

/** How many votes each choice has, with what abstained; members in `without` are left out. */
function counted(votes, sides, without = new Set()) {
  const counts = new Map(sides.map((side) => [side.name, 0]));
  let abstained = 0;
  for (const [member, vote] of votes) {
    if (without.has(member)) continue;
    if (vote.choice) counts.set(vote.choice, (counts.get(vote.choice) || 0) + 1);
    else abstained += 1;
  }
  const seats = [...counts.values()].reduce((a, b) => a + b, 0) + abstained;
  return { counts, abstained, seats };
}

/** Where each moment lies on the timeline, from 0 to 1, and how long it is shown. */
function track(moments) {
  let walked = 0;
  const voted = new Set(moments.filter((moment) => moment.kind === "vote").map((moment) => moment.stage));
  // Where nobody votes, many calls follow each other that a watcher passes over: they take less room and time.
  const each = moments.map((moment) => (moment.kind === "call" && voted.size && !voted.has(moment.stage) ? 0.35 : WEIGHT[moment.kind] || 1));
  const ends = each.map((one) => (walked += one));
  return { at: ends.map((end) => end / (walked || 1)), each };
}

/** All that a moment says. */
function allWords(moment) {
  return (moment.parts || []).map((part) => part.text).join("\n") || firstWords(moment);
}

/** A moment's words in short. */
function firstWords(moment) {
  const part = (moment.parts || [])[0];
  if (part) return part.text;
  return (moment.facts || []).map((fact) => `${fact.label}: ${fact.value}`).join(" · ");
}
