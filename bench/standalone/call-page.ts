import { randomUUID } from 'node:crypto';
import type { Call } from '@call-analysis/proto/ingest/v1/Call';
import { CallQuery, listCalls } from '../../services/gateway/routes/calls/calls.ts';
import { atMost, type Figure, median } from '../harness/figure.ts';

const ITEMS = 100;
/** The repetitions of a round. */
const PAGES = 200;

/**
 * A page of a hundred calls, from the catalogue's rows to the text of the response, compared with the same text written by
 * hand, member by member, without needless escaping. Rounds alternate, and processor time is measured.
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
  // The yardstick must produce the same text.
  if (our !== their) throw new Error('The two pages differ.');
  const time = async (make: () => Promise<string>) => {
    const began = process.cpuUsage();
    // The response is bytes. A string of many pieces would leave half of the work to the code that sends it.
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
      name: `time to write a page of ${ITEMS} calls`,
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
    needs_review: number % 4,
    questions: 15,
    answered: 15,
    score_source: 'machine',
  } as Call;
}

function pageByHand(rows: readonly Call[]): string {
  return `{"count":9000,"count_is_estimate":false,"items":[${rows.map(itemByHand).join(',')}],"next_cursor":"eyJhIjoxfQ"}`;
}

/** Only names of people and groups may need escaping. Other values come from a list, or are numbers or times. */
function itemByHand(call: Call): string {
  const plain = (value: string | undefined) => (value === undefined ? 'null' : `"${value}"`);
  const free = (value: string | undefined) => (value === undefined ? 'null' : JSON.stringify(value));
  return `{"uuid":"${call.uuid}","source":"${call.source}","status":"${call.status}","outcome":${plain(call.outcome)},"partner_call_id":${free(call.partner_call_id)},"client_phone_number":"${call.client_phone_number}","operator_name":${free(call.operator_name)},"operator_id":${free(call.operator_id)},"operator_group_name":${free(call.operator_group_name)},"direction":${plain(call.direction)},"segment_type":${free(call.segment_type)},"start_time":"${call.start_time}","duration":${call.duration ?? null},"disconnect_reason":${free(call.disconnect_reason)},"language":${plain(call.language)},"score":${call.score ?? null},"batch_id":${plain(call.batch_uuid)},"campaign_id":${plain(call.campaign_uuid)},"failure":${failureByHand(call)},"created_at":"${call.created_at}","updated_at":"${call.updated_at}","needs_review":${call.needs_review ?? null},"questions":${call.questions ?? null},"answered":${call.answered ?? null},"reviewed_at":${plain(call.reviewed_at)},"score_source":${plain(call.score_source)}}`;
}

function failureByHand({ failure }: Call): string {
  if (failure === null) return 'null';
  const { stage, code, message, retryable, attempts } = failure;
  return `{"stage":"${stage}","code":"${code}","message":${JSON.stringify(message)},"retryable":${retryable},"attempts":${attempts}}`;
}
