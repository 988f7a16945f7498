// Checks pages for serious faults that axe finds and for content wider than the window. One run of axe takes longer than
// most tests. The colours of a view are those of its theme, its order and names those of its code, so make test runs each
// view once in light and once in dark or on a phone; PARLEY_SOAK=1 has every view in every theme, width and language.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { soak } from "./driver.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The serious faults of a page that was opened with bypassCSP. */
export async function serious(page) {
  return (await violations(page)).filter((v) => v.serious).map((v) => v.text);
}

/** All faults of such a page; rules limits them to some rules. */
export async function violations(page, rules) {
  // A colour in transition is not the one that is read.
  await page.addStyleTag({ content: "*, *::before, *::after { transition: none !important; animation-duration: 0s !important; }" });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const r = await page.evaluate(
    // Only an experimental rule needs the style sheets that axe would load again.
    (only) => window.axe.run(document, { resultTypes: ["violations"], preload: false, ...(only ? { runOnly: { type: "rule", values: only } } : {}) }),
    rules,
  );
  return r.violations.map((v) => ({
    serious: v.impact === "serious" || v.impact === "critical",
    text: `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`,
  }));
}

/** All faults of such a page in light, then the faults of its colours in dark; PARLEY_SOAK=1 runs all rules in both. */
export async function bothThemes(page) {
  const found = [];
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    const rules = colorScheme === "dark" && !soak ? ["color-contrast", "link-in-text-block"] : undefined;
    for (const v of await violations(page, rules)) found.push(`${colorScheme}: ${v.text}`);
  }
  return found;
}

/** Elements beyond the right edge. */
export async function overflow(page) {
  return page.evaluate(() => {
    const wide = document.documentElement.clientWidth;
    return document.documentElement.scrollWidth > wide
      ? [...document.querySelectorAll("body *")]
          .filter((e) => e.getBoundingClientRect().right > wide + 1)
          .slice(0, 3)
          .map((e) => e.className)
      : [];
  });
}
