import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from '@call-analysis/testing';

/** A firm's server that gets webhooks and counts them. */
export interface Receiver {
  urlOf(firmUuid: string): string;
  /** The webhook-ids of each type of event by what it is about, such as a call. */
  told(firmUuid: string): ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;
  /** The requests, and those that repeated a webhook-id. */
  readonly requests: number;
  readonly repeats: number;
  stop(): void;
}

/** One in this many requests is answered with 503 after it was counted, so that it is sent again. */
const REFUSED_EVERY = 200;

interface Told {
  readonly type: string;
  readonly data: { readonly call_uuid?: string; readonly batch_id?: string };
}

export async function startReceiver(random: Random): Promise<Receiver> {
  const firms = new Map<string, Map<string, Map<string, Set<string>>>>();
  let [requests, repeats] = [0, 0];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const { type, data } = JSON.parse(text) as Told;
    const subject = data.call_uuid ?? data.batch_id ?? '';
    const subjects = take(
      take(firms, request.url!.slice(1), () => new Map()),
      subject,
      () => new Map(),
    );
    const ids = take(subjects, type, () => new Set<string>());
    const id = String(request.headers['webhook-id']);
    requests += 1;
    if (ids.has(id)) repeats += 1;
    ids.add(id);
    response.writeHead(random.integer(REFUSED_EVERY) === 0 ? 503 : 204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (firmUuid) => `http://127.0.0.1:${port}/${firmUuid}`,
    told: (firmUuid) => firms.get(firmUuid) ?? new Map(),
    get requests() {
      return requests;
    },
    get repeats() {
      return repeats;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function take<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
