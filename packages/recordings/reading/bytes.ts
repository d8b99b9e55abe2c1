/** Whether the Latin-1 characters of `text` are at `offset`. */
export function hasText(bytes: Uint8Array, offset: number, text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (bytes[offset + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}

/** The four-character code at `offset`; empty where the view ends before it. */
export function fourCC(view: DataView, offset = 0): string {
  if (view.byteLength < offset + 4) return '';
  return Buffer.from(view.buffer, view.byteOffset + offset, 4).toString('latin1');
}
