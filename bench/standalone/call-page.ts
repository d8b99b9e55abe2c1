import { randomUUID } from 'node:crypto';
import type { Call } from '@call-analysis/proto/ingest/v1/Call';
import { CallQuery, listCalls } from '../../services/gateway/routes/calls/calls.ts';
import { atMost, type Figure, median } from '../harness/figure.ts';

const ITEMS = 100;
/** Of a round. */
const PAGES = 200;

/**
 * A page of a hundred calls, from what the catalogue gives to the text of the answer. Beside it the same text put together
 * by hand, member by member, knowing what needs no escaping. Rounds alternate, and processor time is what counts.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rows = Array.from({ length: ITEMS }, (_, number) => call(number));
  const catalogue = {
    listCalls: async () => ({ count: 9_000, items: rows, next_cursor: 'eyJhIjoxfQ', count_is_estimate: false }),
  };
  const caller = { firmUuid: randomUUID(), userUuid: randomUUID(), role: 'ADMIN' } as const;
  const query = CallQuery.parse({ size: String(ITEMS) });
  const ours = async () => JSON.stringify((await listCalls(catalogue, caller, query)).body);
  const byHand = async () => pageByHand(rows);
  const [our, their] = [await ours(), await byHand()];
  // The hand-written one would be no yardstick if it said something else.
  if (our !== their) throw new Error('The two pages differ.');
  const time = async (make: () => Promise<string>) => {
    const began = process.cpuUsage();
    // What goes out is bytes: a string of many pieces would leave half of its work to whoever sends it.
    for (let page = 0; page < PAGES; page++) Buffer.from(await make());
    const { user, system } = process.cpuUsage(began);
    return (user + system) / PAGES;
  };
  const times: { our: number; their: number }[] = [];
  for (let round = -3; round < (quick ? 10 : 60); round++) {
    const both = { our: await time(ours), their: await time(byHand) };
    if (round >= 0) times.push(both);
  }
  return [
    atMost(1, {
      name: `bytes of a page of ${ITEMS} calls`,
      value: Buffer.byteLength(our),
      unit: 'bytes',
      yardstick: { name: 'JSON by hand, bytes', value: Buffer.byteLength(their) },
    }),
    atMost(1.25, {
      name: 'time of it',
      value: median(times.map(({ our }) => our)),
      unit: 'µs',
      yardstick: { name: 'JSON by hand, µs', value: median(times.map(({ their }) => their)) },
    }),
  ];
}

function call(number: number): Call {
  return {
    uuid: randomUUID(),
    source: number % 3 === 0 ? 'audio' : 'transcription',
    status: number % 20 === 0 ? 'failed' : 'completed',
    outcome: 'scored',
    partner_call_id: `crm-${number}`,
    client_phone_number: '+998901234567',
    operator_name: number % 2 === 0 ? 'Азиза Каримова' : 'Emily "Em" Stone',
    operator_id: String(number),
    operator_group_name: 'Evening',
    direction: 'inbound',
    segment_type: 'support',
    start_time: '2026-10-01T09:00:00Z',
    duration: 182.5,
    language: 'uz',
    score: 87.5,
    batch_uuid: randomUUID(),
    failure:
      number % 20 === 0
        ? {
            stage: 'transcription',
            code: 'AUDIO_UNREADABLE',
            message: 'The recording is cut off.',
            retryable: true,
            attempts: 3,
          }
        : null,
    created_at: '2026-10-01T18:00:00.120Z',
    updated_at: '2026-10-01T18:00:01.873Z',
  } as Call;
}

function pageByHand(rows: readonly Call[]): string {
  return `{"count":9000,"count_is_estimate":false,"items":[${rows.map(itemByHand).join(',')}],"next_cursor":"eyJhIjoxfQ"}`;
}

/** Whoever names people and groups may write what has to be escaped; all else comes from a list, or is a number or a time. */
function itemByHand(call: Call): string {
  const plain = (value: string | undefined) => (value === undefined ? 'null' : `"${value}"`);
  const free = (value: string | undefined) => (value === undefined ? 'null' : JSON.stringify(value));
  return `{"uuid":"${call.uuid}","source":"${call.source}","status":"${call.status}","outcome":${plain(call.outcome)},"partner_call_id":${free(call.partner_call_id)},"client_phone_number":"${call.client_phone_number}","operator_name":${free(call.operator_name)},"operator_id":${free(call.operator_id)},"operator_group_name":${free(call.operator_group_name)},"direction":${plain(call.direction)},"segment_type":${free(call.segment_type)},"start_time":"${call.start_time}","duration":${call.duration ?? null},"disconnect_reason":${free(call.disconnect_reason)},"language":${plain(call.language)},"score":${call.score ?? null},"batch_id":${plain(call.batch_uuid)},"campaign_id":${plain(call.campaign_uuid)},"failure":${failureByHand(call)},"created_at":"${call.created_at}","updated_at":"${call.updated_at}"}`;
}

function failureByHand({ failure }: Call): string {
  if (failure === null) return 'null';
  const { stage, code, message, retryable, attempts } = failure;
  return `{"stage":"${stage}","code":"${code}","message":${JSON.stringify(message)},"retryable":${retryable},"attempts":${attempts}}`;
}
