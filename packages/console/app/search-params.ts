type Search = Record<string, string | string[]>;

/** The query of an address as the API writes it: plain text, and a list as a repeated name. */
export function parseSearch(text: string): Search {
  const search: Search = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const present = search[name];
    if (present === undefined) search[name] = value;
    else search[name] = Array.isArray(present) ? [...present, value] : [present, value];
  }
  return search;
}

export function stringifySearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (each !== undefined && each !== null && each !== '') parameters.append(name, String(each));
    }
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}
