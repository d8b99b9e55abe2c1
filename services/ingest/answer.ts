import type { Call } from '@call-analysis/proto/ingest/v1/Call';

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

/** A call as the last release sent it. */
export function callMessage(item: { readonly [Name in string]: unknown }): Call {
  const { batch_id: batch_uuid, campaign_id: campaign_uuid, matches, failure, ...same } = item;
  const matches_json = matches === undefined ? null : JSON.stringify(matches);
  return { ...present({ ...same, batch_uuid, campaign_uuid, matches_json }), failure } as unknown as Call;
}
