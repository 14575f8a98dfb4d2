// Counting again by other rules. Nobody is asked anything anew, and every result says so.

/**
 * What the votes on record give under other rules.
 * @param rule `most`, `half`, `two-thirds`, `five-sixths`, `all` or `last`.
 * @param above share of the counted seats that ends the discussion when exceeded; null: the last ballot counts.
 * @returns the ballot that counts, its votes, and the outcome: a choice, or null with the reason.
 */
function recount(scene, ballots, { rule, tie, above, without }) {
  const results = ballots.map((ballot) => ({ ballot, ...counted(ballot.votes, scene.sides, without) })).filter((one) => one.seats);
  if (!results.length) return { outcome: null, why: t(t("No votes are left to count.")) };
  const most = (one) => Math.max(...one.counts.values());
  const ends = above === null ? null : results.find((one) => most(one) / one.seats > above);
  const used = (scene.carries && ends) || results[results.length - 1];
  if (rule === "last") {
    const votes = [...used.ballot.votes].filter(([member, vote]) => !without.has(member) && vote.choice);
    const choice = votes.length ? votes[votes.length - 1][1].choice : null;
    return { ...used, outcome: choice, why: choice ? t(t("The last member's vote decides.")) : t(t("Nobody voted.")) };
  }
  const top = most(used);
  const leading = [...used.counts].filter(([, number]) => number === top).map(([name]) => name);
  if (top === 0) return { ...used, outcome: null, why: t(t("Nobody voted.")) };
  if (leading.length > 1 && rule === "most")
    return { ...used, outcome: leading.includes(tie) ? tie : null, why: leading.includes(tie) ? t(t("A tie; it goes to this choice.")) : t(t("A tie, and nobody has it.")) };
  const enough = { most: top > 0, half: top * 2 > used.seats, "two-thirds": top * 3 >= used.seats * 2, "five-sixths": top * 6 >= used.seats * 5, all: top === used.seats }[rule];
  if (!enough || leading.length > 1) return { ...used, outcome: null, why: t("{number} of {seats} votes are not enough.", { number: top, seats: used.seats }) };
  return { ...used, outcome: leading[0], why: t("{number} of {seats} votes.", { number: top, seats: used.seats }) };
}
