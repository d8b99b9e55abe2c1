import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from '@call-analysis/testing';

/** A firm's server that gets webhooks and counts them. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** One in this many requests is answered with 503 after it was counted, so that it is sent again. */
const REFUSED_EVERY = 200;

interface Webhook {
  readonly type: string;
  readonly data: { readonly call_uuid?: string; readonly batch_id?: string };
}

export async function startReceiver(random: Random) {
  const events = new Map<string, { readonly firm: string; readonly subject: string; readonly type: string }>();
  let requests = 0;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const { type, data } = JSON.parse(text) as Webhook;
    const subject = data.call_uuid ?? data.batch_id ?? '';
    events.set(String(request.headers['webhook-id']), { firm: request.url!.slice(1), subject, type });
    requests += 1;
    response.writeHead(random.integer(REFUSED_EVERY) === 0 ? 503 : 204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (firmUuid: string) => `http://127.0.0.1:${port}/${firmUuid}`,
    /** The type of each event that the firm was told of, by what the event is about, such as a call. */
    told(firmUuid: string): ReadonlyMap<string, readonly string[]> {
      const own = [...events.values()].filter(({ firm }) => firm === firmUuid);
      const bySubject = Map.groupBy(own, ({ subject }) => subject);
      return new Map([...bySubject].map(([subject, about]) => [subject, about.map(({ type }) => type)]));
    },
    /** The requests, and those that repeated a webhook-id. */
    counts: () => ({ requests, repeats: requests - events.size }),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
