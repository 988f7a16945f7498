// Searches the pages of a site of files. The words of the query are looked up like the server does.
const query = new URLSearchParams(location.search).get("q") ?? "";
const words = query.slice(0, 200).toLowerCase().split(/\s+/).filter(Boolean);
const results = document.getElementById("results");
document.querySelector("input[name=q]").value = query;

const count = (text, word) => Math.min(text.split(word).length - 1, 5);

function score(section) {
  const page = section.PageTitle.toLowerCase();
  const title = section.Title.toLowerCase();
  const text = section.Text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const n = count(text, word) + (title.includes(word) ? 10 : 0) + (page.includes(word) ? 5 : 0);
    if (n === 0) return 0;
    sum += n;
  }
  return sum;
}

function snippet(text) {
  const p = document.createElement("p");
  for (const word of words) {
    const at = text.toLowerCase().indexOf(word);
    if (at < 0) continue;
    const mark = document.createElement("mark");
    mark.textContent = text.slice(at, at + word.length);
    p.append(at > 90 ? "… " : "", text.slice(Math.max(at - 90, 0), at), mark, text.slice(at + word.length, at + word.length + 90), " …");
    return p;
  }
  p.textContent = text.slice(0, 180);
  return p;
}

function row(section) {
  const part = document.createElement("section");
  const heading = document.createElement("h2");
  const link = document.createElement("a");
  link.href = `${section.Page}.html${section.ID ? `#${section.ID}` : ""}`;
  link.textContent = section.Title;
  heading.append(link);
  const page = document.createElement("p");
  page.className = "page";
  page.textContent = section.PageTitle;
  part.append(heading, page, snippet(section.Text));
  return part;
}

if (words.length > 0) {
  const sections = await (await fetch("search.json")).json();
  const found = sections
    .map((section) => ({ section, score: score(section) }))
    .filter((r) => r.score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, 40);
  const line = document.createElement("p");
  line.textContent = `${found.length || "No"} ${found.length === 1 ? "section" : "sections"} with “${query}”.`;
  results.replaceChildren(line, ...found.map((r) => row(r.section)));
}
