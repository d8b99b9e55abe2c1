/** What a value is once it was JSON. */
export type Sent<Value> = Value extends Date
  ? string
  : Value extends object
    ? { -readonly [Name in keyof Value]: Sent<Value[Name]> }
    : Value;

/**
 * The API's own JSON, which the gateway passes on, as the reply of an RPC that the last release has. `formerly`: the fields of the
 * message, which a gateway of the last release reads instead.
 */
export function answer<Json, Reply>(
  caller: { readonly reads_json?: boolean } | null,
  json: Json,
  formerly: (json: Sent<Json>) => Reply,
): Reply {
  const text = JSON.stringify(json);
  return caller?.reads_json === true
    ? ({ json: Buffer.from(text) } as Reply)
    : formerly(JSON.parse(text) as Sent<Json>);
}

/** Leaves out null fields: messages have no nulls. */
export function present<Fields extends object>(fields: Fields): { [Name in keyof Fields]: NonNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [Name in keyof Fields]: NonNullable<Fields[Name]>;
  };
}
