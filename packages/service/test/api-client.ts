type Rpc = (request: { caller: object; path: string[]; json: string }) => Promise<{ readonly json: Buffer }>;

/** What a test sends: the caller, the parameters of the path, and the fields of the body or of the query. */
type Asked = { readonly caller: object } & Readonly<Record<string, unknown>>;

/** The RPCs of proto/endpoint.proto by their answers. */
export type ApiClient<Answers> = { readonly [Name in keyof Answers]: (asked: Asked) => Promise<Answers[Name]> };

/** Asks as the gateway does. `path`: the names of fields that are parameters of the path, in their order. */
export function apiClient<Answers>(
  client: { readonly [Name in keyof Answers]: Rpc },
  path: readonly string[],
): ApiClient<Answers> {
  const ask =
    (rpc: Rpc) =>
    async ({ caller, ...fields }: Asked) => {
      const body = Object.entries(fields).filter(([name]) => !path.includes(name));
      const { json } = await rpc({
        caller,
        path: path.flatMap((name) => (typeof fields[name] === 'string' ? [fields[name]] : [])),
        json: JSON.stringify(Object.fromEntries(body)),
      });
      return json.length === 0 ? undefined : (JSON.parse(json.toString()) as unknown);
    };
  const rpcs = Object.entries<Rpc>(client).filter(([, rpc]) => typeof rpc === 'function');
  return Object.fromEntries(rpcs.map(([name, rpc]) => [name, ask(rpc)])) as ApiClient<Answers>;
}
