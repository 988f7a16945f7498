// Files that were pasted, dropped or chosen: pictures go with the message, texts as contexts with their contents.

import type { Obj } from "../../fold/json";
import { goodPath, types } from "../../state/contexts";
import type { Picture } from "../../state/session";

const pictures = /^image\/(png|jpeg|gif|webp)$/;
/** The API takes pictures of at most 5 MB. */
export const largestPicture = 5 * 1024 * 1024;
export const largestText = 256 * 1024;
/** The most files of a folder. */
export const mostFiles = 50;

/** Why a file was not added. */
export interface Refused {
  name: string;
  why: "large" | "binary" | "many" | "unreadable";
  size: number;
  limit: number;
}

export interface Taken {
  images: Picture[];
  contexts: Obj[];
  refused: Refused[];
}

/** A file, and its path in the folder that was dropped. */
export interface Given {
  file: File;
  path: string;
}

/** Returns the text of a file; undefined if it is binary. */
async function textOf(f: File): Promise<string | undefined> {
  const bytes = await f.arrayBuffer();
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\u0000") ? undefined : text;
  } catch {
    return undefined;
  }
}

export async function readFiles(files: readonly Given[]): Promise<Taken> {
  const out: Taken = { images: [], contexts: [], refused: [] };
  for (const { file, path } of files) {
    const refuse = (why: Refused["why"], limit = 0) => out.refused.push({ name: path, why, size: file.size, limit });
    const name = goodPath(path) ? path : "file";
    try {
      if (pictures.test(file.type)) {
        if (file.size > largestPicture) refuse("large", largestPicture);
        else out.images.push({ name, type: file.type, size: file.size, data: await base64(file) });
      } else if (file.size > largestText) refuse("large", largestText);
      else {
        // Its content decides, because browsers classify TypeScript files as video.
        const content = await textOf(file);
        if (content === undefined) refuse("binary");
        else out.contexts.push({ type: types.file, path: name, content, displayType: "TAG" });
      }
    } catch {
      refuse("unreadable");
    }
  }
  return out;
}

/** A text that is too long to be pasted into the input, as a context. */
export function pasted(text: string, n: number): Obj | undefined {
  if (text.length <= 4096 && text.split("\n").length <= 40) return undefined;
  if (text.length > largestText) return undefined;
  return { type: types.file, path: `pasted-${n}.txt`, content: text, displayType: "TAG" };
}

/**
 * Returns the dropped files, including those in folders. Call it while the drop event is handled.
 */
export function dropped(data: DataTransfer): Promise<{ files: Given[]; refused: Refused[] }> {
  const entries = [...data.items].map((i) => i.webkitGetAsEntry?.() ?? undefined);
  if (!entries.some((e) => e?.isDirectory))
    return Promise.resolve({ files: [...data.files].map((file) => ({ file, path: file.name })), refused: [] });
  return walk(entries.filter((e) => e !== undefined));
}

/** The files of folders, up to a limit. */
export async function walk(entries: readonly FileSystemEntry[]): Promise<{ files: Given[]; refused: Refused[] }> {
  const files: Given[] = [];
  const refused: Refused[] = [];
  for (const e of entries) {
    const found = await below(e, mostFiles + 1);
    const size = found.reduce((n, f) => n + f.file.size, 0);
    if (found.length > mostFiles) refused.push({ name: e.name, why: "many", size, limit: mostFiles });
    else if (e.isDirectory && size > largestText)
      refused.push({ name: e.name, why: "large", size, limit: largestText });
    else files.push(...found);
  }
  return { files, refused };
}

async function below(e: FileSystemEntry, most: number): Promise<Given[]> {
  if (e.isFile) {
    const file = await new Promise<File>((ok, no) => (e as FileSystemFileEntry).file(ok, no));
    return [{ file, path: e.fullPath.replace(/^\//, "") || e.name }];
  }
  const reader = (e as FileSystemDirectoryEntry).createReader();
  const out: Given[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((ok, no) => reader.readEntries(ok, no));
    if (some.length === 0) return out;
    for (const child of some) {
      out.push(...(await below(child, most - out.length)));
      if (out.length >= most) return out;
    }
  }
}

async function base64(f: File): Promise<string> {
  const bytes = new Uint8Array(await f.arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}
