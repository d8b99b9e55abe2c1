/** The body's text, up to so many bytes; what comes after them is not waited for. */
export async function boundedText(response: Response, limitBytes: number): Promise<{ text: string; isCut: boolean }> {
  const parts: Uint8Array[] = [];
  let size = 0;
  if (response.body !== null) {
    // Leaving the loop early cancels the body and with it the transfer.
    for await (const part of response.body) {
      parts.push(part);
      size += part.length;
      if (size > limitBytes) break;
    }
  }
  return { text: Buffer.concat(parts).subarray(0, limitBytes).toString('utf8'), isCut: size > limitBytes };
}
