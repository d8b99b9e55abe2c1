import { setTimeout as pause } from 'node:timers/promises';
import autocannon from 'autocannon';
import { type Client, newFirm } from '../../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../../deploy/standalone/test/system/service-process.ts';
import { atLeast, atMost, type Figure, quantile } from '../harness/figure.ts';

const PATH = '/api/v1/calls?size=20';
const CALLS = 500;
/** The requests per second of the quiet firm's client. */
const PER_SECOND = 10;
const FLOOD = 5;
/** Enough to send five times as many requests as the service can answer while those in its queue wait. */
const FLOOD_CONNECTIONS = 256;
const CONNECTIONS = [8, 16, 64];

/**
 * A firm that sends five times as many requests as the service can answer, and another firm's client with ten requests a
 * second: how many of its requests are answered, and how soon, compared with the same client alone; and how many requests
 * the service answers altogether, compared with the most that it answers to one firm. Both firms list their calls. Rate
 * limits are off, because they would end the flood.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const seconds = quick ? 5 : 20;
  const service = await startService(undefined, { RATE_LIMIT_PER_FIRM: '0', RATE_LIMIT_PER_ADDRESS: '0' });
  try {
    const [flooding, quiet] = [await firmWithCalls(service), await firmWithCalls(service)];
    await flood(service.url, flooding, { connections: 16, seconds: 3 });
    const rates: number[] = [];
    for (const connections of CONNECTIONS) {
      rates.push((await flood(service.url, flooding, { connections, seconds: quick ? 3 : 8 })).perSecond);
    }
    const peak = Math.max(...rates);
    await pause(1000);
    const alone = await ask(service.url, quiet, seconds);
    const flooded = flood(service.url, flooding, {
      connections: FLOOD_CONNECTIONS,
      seconds: seconds + 4,
      overallRate: Math.round(FLOOD * peak),
    });
    // The flood has reached its rate by then.
    await pause(2000);
    const beside = await ask(service.url, quiet, seconds);
    const { perSecond, refused } = await flooded;
    console.error(`the flooding firm: ${Math.round(perSecond)} requests/s answered, ${refused} refused in all`);
    return [
      atLeast(0.95, {
        name: `requests of a client answered while another firm sends ${FLOOD} times the capacity`,
        value: beside.answered,
        unit: 'requests',
        yardstick: { name: 'alone', value: alone.answered },
      }),
      atMost(2, {
        name: 'response time of that client, p99',
        value: quantile(beside.times, 0.99),
        unit: 'ms',
        yardstick: { name: 'alone, ms', value: quantile(alone.times, 0.99) },
      }),
      atMost(2, {
        name: 'response time of that client, median',
        value: quantile(beside.times, 0.5),
        unit: 'ms',
        yardstick: { name: 'alone, ms', value: quantile(alone.times, 0.5) },
      }),
      atLeast(0.9, {
        name: 'requests of both firms answered',
        value: perSecond + beside.answered / seconds,
        unit: 'requests/s',
        yardstick: { name: 'most of one firm, requests/s', value: peak },
      }),
    ];
  } finally {
    await service.stop();
  }
}

async function firmWithCalls(service: Parameters<typeof newFirm>[0]): Promise<Client> {
  const firm = await newFirm(service);
  const header = 'operator_name,client_phone_number,start_time,segment_type,duration,anonymized_text';
  const rows = Array.from(
    { length: CALLS },
    (_, row) =>
      `Operator ${row % 9},+99890${String(1_000_000 + row)},2026-10-01T09:${String(row % 60).padStart(2, '0')}:00Z,support,60,<operator>Hello<client>Hi ${row}`,
  );
  const metadata_key = await firm.upload([header, ...rows].join('\n'));
  await firm.call('POST', '/api/v1/calls/process-upload', { metadata_key });
  for (;;) {
    const { count } = await firm.call<{ count: number }>('GET', '/api/v1/calls?status=completed&size=1');
    if (count >= CALLS) return firm;
    await pause(200);
  }
}

interface Flood {
  readonly connections: number;
  readonly seconds: number;
  readonly overallRate?: number;
}

/** Runs in a thread of its own, so that it does not delay the quiet firm's client. */
async function flood(url: string, { token }: Client, { connections, seconds, overallRate }: Flood) {
  const result = await autocannon({
    url: url + PATH,
    connections,
    duration: seconds,
    workers: 1,
    headers: { authorization: `Bearer ${token}` },
    ...(overallRate !== undefined && { overallRate }),
  });
  return { perSecond: result['2xx'] / result.duration, refused: result.non2xx + result.errors };
}

/** Asks at a fixed rate, whether or not the answers to earlier requests have arrived. A request that fails counts as unanswered. */
async function ask(url: string, { token }: Client, seconds: number): Promise<{ answered: number; times: number[] }> {
  const times: number[] = [];
  let answered = 0;
  const asked: Promise<void>[] = [];
  const began = performance.now();
  for (let request = 0; request < seconds * PER_SECOND; request++) {
    await pause(Math.max(0, began + (request * 1000) / PER_SECOND - performance.now()));
    asked.push(one());
  }
  await Promise.all(asked);
  return { answered, times };

  async function one(): Promise<void> {
    const sent = performance.now();
    try {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(url + PATH, { headers, signal: AbortSignal.timeout(10_000) });
      await response.arrayBuffer();
      if (response.ok) answered++;
    } catch {
      // Unanswered.
    }
    times.push(performance.now() - sent);
  }
}
