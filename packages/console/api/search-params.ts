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

/** Lists repeat their parameter. Undefined and empty values are left out. */
export function stringify(search: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search) as [string, unknown][]) {
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (each !== undefined && each !== null && each !== '') parameters.append(name, String(each));
    }
  }
  return parameters.toString();
}

/** The same for an address. */
export function stringifySearch(search: object): string {
  const text = stringify(search);
  return text === '' ? '' : `?${text}`;
}
