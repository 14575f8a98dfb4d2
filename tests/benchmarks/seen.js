// In each page of `bench_room`: when something appeared, also within components, which are trees of their own.

(() => {
  const roots = [document], looks = new Set();
  const look = () => { for (const one of looks) one(); };
  const watch = (root) => new MutationObserver(look).observe(root, { subtree: true, childList: true, characterData: true, attributes: true });
  watch(document);
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (...given) {
    const root = attach.apply(this, given);
    roots.push(root); watch(root);
    return root;
  };

  const all = (selector) => roots.flatMap((root) => (root === document || root.host.isConnected ? [...root.querySelectorAll(selector)] : []));
  const one = (selector) => all(selector)[0];
  const text = (selector) => all(selector).map((found) => found.textContent).join("\n");

  const fresh = (found) => !(found.getRootNode().host || found).closest("[data-stale=true]");

  const shown = (found) => (found.getRootNode().host || found).checkVisibility({ visibilityProperty: true });

  /** Milliseconds from `began`, or from navigation, until it holds. */
  const when = (ready, began = 0) => new Promise((done, fail) => {
    setTimeout(() => fail(new Error(`never seen: ${ready}`)), 60_000);
    const test = () => { if (ready()) { looks.delete(test); done(performance.now() - began); } };
    looks.add(test); test();
  });

  const bench = {
    all, one, text, when, seen: {}, counts: [],
    /** The room has its seats, and the transcript ends with the verdict. */
    drawn: (seats) => all(".room .seat").length >= seats && all(".room .transcript .k-verdict").length > 0,
    /** The open tab shows a text and what is drawn; what stands in another is there and not shown. */
    below: (wanted, drawn) => all("[class*=st-key-pane-]").filter(shown).some((open) => open.textContent.includes(wanted)) && (!drawn || all(drawn).some((one) => fresh(one) && shown(one))),
    click: async (button, ready) => {
      await when(() => !ready());  // what stood there before is gone
      const began = performance.now();
      button.click();
      return when(ready, began);
    },
    /** Notes when each answer and each vote came into the transcript. */
    follow: () => looks.add(() => {
      for (const line of all(".room .line-said:not(.live)")) {
        const found = /statement (\d+) /.exec(line.textContent);
        if (!found) continue;
        bench.seen[`answer ${found[1]}`] ??= Date.now();
        if (line.querySelector(".vote-slot .chip")) bench.seen[`vote ${found[1]}`] ??= Date.now();
      }
    }),
    /** Notes when each number was shown. */
    count: () => looks.add(() => {
      const found = /Counted: (\d+)/.exec(text("[data-testid=stMain]"));
      const number = found ? Number(found[1]) : 0, last = bench.counts.at(-1);
      if (found && (!last || last[0] < number)) bench.counts.push([number, Date.now()]);
    }),
  };
  window.courtroomBench = bench;
})();
