// Finds possible bugs in the TypeScript of the page, and checks which of them compile. Part of internal/tool/mutants, which
// copies it into web/ of a copy of the checkout.
//
//   node web/mutants.mjs changes FOLDER   every change of the folder's files
//   node web/mutants.mjs check            for each change of standard input whether it compiles
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const web = dirname(fileURLToPath(import.meta.url));
const K = ts.SyntaxKind;
const shifts = new Map([
  [K.LessThanToken, "<="], [K.LessThanEqualsToken, "<"], [K.GreaterThanToken, ">="], [K.GreaterThanEqualsToken, ">"],
  [K.AmpersandAmpersandToken, "||"], [K.BarBarToken, "&&"], [K.EqualsEqualsEqualsToken, "!=="], [K.ExclamationEqualsEqualsToken, "==="],
]);

// The types refuse some changes of TypeScript that are no change of JavaScript; offsets of TypeScript count UTF-16, those of Go bytes.
function changes(folder) {
  const all = [];
  for (const name of readdirSync(folder, { recursive: true }).sort()) {
    if (!/\.tsx?$/.test(name) || /\.test\.ts$|\.d\.ts$/.test(name)) continue;
    const file = `${folder}/${name.replaceAll("\\", "/")}`;
    const text = readFileSync(file, "utf8");
    if (/^\/\/ Code generated/.test(text)) continue;
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
    const bytes = (offset) => Buffer.byteLength(text.slice(0, offset));
    const start = (node) => node.getStart(source);
    let body;
    const add = (kind, from, to, at, is) => {
      const expr = !ts.isBlock(body);
      const [a, b] = expr ? [start(body), body.end] : [start(body) + 1, body.end - 1];
      all.push({ file, kind, start: bytes(from), end: bytes(to), old: text.slice(from, to), new: is, body: [bytes(a), bytes(b)], expr, at: bytes(expr ? a : at) });
    };
    const visit = (node, at) => {
      if (ts.isFunctionLike(node) && node.body && !body) {
        body = node.body;
        visit(node.body, start(node.body));
        body = undefined;
        return;
      }
      if (body) {
        if (ts.isStatement(node) && (ts.isBlock(node.parent) || ts.isCaseOrDefaultClause(node.parent))) at = start(node);
        change(node, at);
      }
      ts.forEachChild(node, (child) => visit(child, at));
    };
    const change = (node, at) => {
      const from = start(node);
      const src = text.slice(from, node.end);
      const condition = (ts.isIfStatement(node) || ts.isWhileStatement(node)) ? node.expression : (ts.isConditionalExpression(node) || ts.isForStatement(node)) ? node.condition : undefined;
      if (condition) add("condition negated", start(condition), condition.end, at, `!(${text.slice(start(condition), condition.end)})`);
      if (ts.isBinaryExpression(node) && shifts.has(node.operatorToken.kind)) {
        const op = node.operatorToken;
        add("comparison shifted", start(op), op.end, at, shifts.get(op.kind));
      }
      if (ts.isReturnStatement(node)) add("return dropped", from, node.end, at, ts.isBlock(node.parent) || ts.isCaseOrDefaultClause(node.parent) ? "" : ";");
      if (ts.isExpressionStatement(node) && !/^console\.|^super\(/.test(src)) add("statement dropped", from, node.end, at, ";");
      if (ts.isThrowStatement(node)) add("error ignored", from, node.end, at, ";");
      if (ts.isCatchClause(node) && node.block.statements.length > 0) add("error ignored", start(node.block), node.block.end, at, "{}");
      if (ts.isBreakOrContinueStatement(node)) add("statement dropped", from, node.end, at, ";");
      if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
        const args = node.arguments ?? [];
        for (let i = 0; i + 1 < args.length; i++) {
          const [a, b] = [args[i], args[i + 1]].map((arg) => text.slice(start(arg), arg.end));
          if (a !== b && !/\b(min|max)$/.test(text.slice(start(node.expression), node.expression.end))) {
            add("arguments swapped", start(args[i]), args[i + 1].end, at, b + text.slice(args[i].end, start(args[i + 1])) + a);
          }
        }
      }
    };
    visit(source, 0);
  }
  return all;
}

function check(list) {
  const config = ts.parseJsonConfigFileContent(ts.readConfigFile(join(web, "tsconfig.json"), ts.sys.readFile).config, ts.sys, web);
  let changed = { file: "", text: "", version: 0 };
  const service = ts.createLanguageService({
    getScriptFileNames: () => config.fileNames,
    getScriptVersion: (file) => (file === changed.file ? String(changed.version) : "0"),
    getScriptSnapshot: (file) => {
      const text = file === changed.file ? changed.text : ts.sys.readFile(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => web,
    getCompilationSettings: () => ({ ...config.options, noUnusedLocals: false, noUnusedParameters: false, allowUnreachableCode: true }),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists, readFile: ts.sys.readFile, readDirectory: ts.sys.readDirectory, directoryExists: ts.sys.directoryExists,
  });
  return list.map((c, i) => {
    const file = resolve(c.file).replaceAll("\\", "/");
    const bytes = readFileSync(file);
    changed = { file, text: bytes.subarray(0, c.start) + c.new + bytes.subarray(c.end), version: i + 1 };
    return service.getSyntacticDiagnostics(file).length === 0 && service.getSemanticDiagnostics(file).length === 0;
  });
}

const [mode, folder] = process.argv.slice(2);
const answer = mode === "check" ? check(JSON.parse(readFileSync(0, "utf8"))) : changes(folder);
process.stdout.write(JSON.stringify(answer));
