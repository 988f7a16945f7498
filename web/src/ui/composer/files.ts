// Files that were pasted, dropped or chosen: pictures go with the message, texts as contexts.

import type { Obj } from "../../fold/json";
import { goodPath, types } from "../../state/contexts";
import type { Picture } from "../../state/session";

const pictures = /^image\/(png|jpeg|gif|webp)$/;
/** The API takes pictures of at most 5 MB. */
export const largestPicture = 5 * 1024 * 1024;
export const largestText = 256 * 1024;

export interface Taken {
  images: Picture[];
  contexts: Obj[];
  refused: string[];
}

export async function readFiles(files: readonly File[]): Promise<Taken> {
  const out: Taken = { images: [], contexts: [], refused: [] };
  for (const f of files) {
    const name = goodPath(f.name) ? f.name : "image";
    if (pictures.test(f.type) && f.size <= largestPicture) {
      out.images.push({ name, type: f.type, size: f.size, data: await base64(f) });
    } else if (
      f.size <= largestText &&
      (f.type.startsWith("text/") || f.type === "" || /json|xml|yaml|javascript|sh$/.test(f.type))
    ) {
      const content = await f.text();
      if (content.includes("\u0000")) out.refused.push(f.name);
      else out.contexts.push({ type: types.file, path: name, content, displayType: "TAG" });
    } else out.refused.push(f.name);
  }
  return out;
}

async function base64(f: File): Promise<string> {
  const bytes = new Uint8Array(await f.arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}
