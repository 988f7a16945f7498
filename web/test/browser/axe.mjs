// Checks pages for serious faults that axe finds and for content wider than the window.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The serious faults of a page that was opened with bypassCSP. */
export async function serious(page) {
  return (await violations(page)).filter((v) => v.serious).map((v) => v.text);
}

/** All faults of such a page. */
export async function violations(page) {
  // A colour in transition is not the one that is read.
  await page.addStyleTag({ content: "*, *::before, *::after { transition: none !important; animation-duration: 0s !important; }" });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.evaluate(axe);
  const r = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return r.violations.map((v) => ({
    serious: v.impact === "serious" || v.impact === "critical",
    text: `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`,
  }));
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
