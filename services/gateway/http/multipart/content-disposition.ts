/** The names in a part's header. `fileName` is null when the part is not a file. */
interface PartNames {
  readonly name: string;
  readonly fileName: string | null;
}

const PARAMETER = /\s*;\s*([^\s=;"]+)\s*=\s*(?:"((?:\\["\\]|\\(?!["\\])|[^"\\])*)"|([^\s;"]*))/y;

/**
 * Reads a part's `Content-Disposition`, in which each character is a byte. Null when it is not that of a form's part, or
 * not UTF-8 (RFC 7578, 4.2 and 5.1). The file name keeps any path that the client sent. `filename*` (RFC 5987) has
 * precedence over `filename`, which is then a fallback for older servers.
 */
export function partNames(disposition: string): PartNames | null {
  const [type = ''] = /^\s*[^\s;]+/.exec(disposition) ?? [];
  if (type.trim().toLowerCase() !== 'form-data') return null;
  const given = new Map<string, string>();
  let at = type.length;
  for (;;) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(disposition);
    if (match === null) break;
    at = PARAMETER.lastIndex;
    const key = (match[1] ?? '').toLowerCase();
    const value = match[2]?.replace(/\\(["\\])/g, '$1') ?? match[3] ?? '';
    if (!given.has(key)) given.set(key, value);
  }
  if (/[^\s;]/.test(disposition.slice(at))) return null;
  const name = plain(given.get('name'));
  const fileName = given.has('filename*') ? extended(given.get('filename*')) : plain(given.get('filename'));
  if (name === undefined || name === null || fileName === null) return null;
  return { name, fileName: fileName ?? null };
}

/** Browsers send names in UTF-8, with a quote as %22 and a percent sign unchanged (HTML, "Multipart form data"). */
function plain(bytes: string | undefined): string | null | undefined {
  if (bytes === undefined) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'));
    return text.replaceAll('%22', '"');
  } catch {
    return null;
  }
}

/** `UTF-8'en'%D0%97.wav` */
function extended(value = ''): string | null {
  const [, encoded] = /^utf-8'[^']*'((?:%[0-9a-f]{2}|[^%'"\s])*)$/i.exec(value) ?? [];
  if (encoded === undefined) return null;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}
