import { randomBytes } from 'node:crypto';
import type { CollectedSpan, openCollector } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Batch, type Client, newFirm } from '../../test/client/new-firm.ts';
import { eventually, fetchWhenAvailable } from '../../test/client/retry.ts';
import { silence } from '../../test/client/silence.ts';
import { csvOf, metadataOf } from '../../test/client/valid-uploads.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';

type Collector = Awaited<ReturnType<typeof openCollector>>;

let collector: Collector;
let service: SystemUnderTest;
let client: Client;

/** The headers of a client that continue its own trace and request id. */
function identity() {
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  const requestId = `trace-test.${spanId}`;
  return {
    traceId,
    spanId,
    requestId,
    headers: {
      authorization: `Bearer ${client.token}`,
      traceparent: `00-${traceId}-${spanId}-01`,
      'x-request-id': requestId,
    },
  };
}

async function ended(callUuid: string): Promise<void> {
  await eventually(
    async () => (await client.call<{ status: string }>('GET', `/api/v1/calls/${callUuid}`)).status === 'completed',
  );
}

/** The names of the spans from this one up to the client's own. */
function pathUp(spans: readonly CollectedSpan[], name: string, root: string): string[] {
  const path: string[] = [];
  for (let span = spans.find((each) => each.name === name); span !== undefined;) {
    path.push(`${span.service}: ${span.name}`);
    const { parentSpanId } = span;
    if (parentSpanId === root) path.push('the client');
    span = spans.find((each) => each.spanId === parentSpanId);
  }
  return path;
}

/** Each process exports its spans at its own time. All have arrived when they lead from the last one to the client. */
async function spansOf(traceId: string, last: string, root: string): Promise<CollectedSpan[]> {
  const found = () => collector.spans.filter((span) => span.traceId === traceId);
  await eventually(() => pathUp(found(), last, root).at(-1) === 'the client');
  return found();
}

const LAST = 'ingest.catalogue call.analyzed.v1';

/** The system exports its spans to the collector, with `authorization=Basic abc`, and writes its log at the level info. */
export function describeTraces(system: () => SystemUnderTest, collected: () => Collector): void {
  beforeAll(async () => {
    collector = collected();
    service = system();
    client = await newFirm(service);
  });

  describe('a trace', () => {
    it('leads from the upload of a transcript to its analysis, span by span, with one request id in every line', async () => {
      const key = await client.upload(csvOf([{ partner_call_id: 't-1' }]));
      const { traceId, spanId, requestId, headers } = identity();
      const accepted = await fetchWhenAvailable(`${service.url}/api/v1/calls/process-upload`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ metadata_key: key }),
      });
      expect(accepted.status).toBe(200);
      const { data } = (await accepted.json()) as { data: Batch };
      const { items } = await client.listCalls<{ uuid: string }>(`batch=${data.batch_id}`);
      const uuid = items[0]!.uuid;
      await ended(uuid);

      const spans = await spansOf(traceId, LAST, spanId);
      expect(pathUp(spans, LAST, spanId)).toEqual([
        `ingest: ${LAST}`,
        'analysis: analysis transcript.ready.v1',
        'ingest: call_analysis.ingest.v1.Ingest/ProcessUpload',
        'gateway: POST /api/v1/calls/process-upload',
        'the client',
      ]);
      expect(new Set(spans.map((span) => span.spanId)).size).toBe(spans.length);
      expect(collector.requests[0]?.headers.authorization).toBe('Basic abc');

      // A consumer may log an event shortly after its result is visible.
      const { lines, events } = await eventually(() => {
        const completeLines = service
          .stderr()
          .split('\n')
          .slice(0, -1)
          .filter((line) => line.includes(traceId));
        const said = completeLines.map((line) => JSON.parse(line) as Record<string, unknown>);
        const handled = said.filter((line) => line['msg'] === 'event');
        return handled.length >= 3 ? { lines: said, events: handled } : undefined;
      });
      expect(lines.every((line) => line['request_id'] === requestId)).toBe(true);
      events.sort((a, b) => String(a['consumer']).localeCompare(String(b['consumer'])));
      expect(
        events.map(({ consumer, outcome, call_uuid, firm_uuid }) => ({ consumer, outcome, call_uuid, firm_uuid })),
      ).toEqual(
        ['analysis', 'ingest.catalogue', 'webhooks.events'].map((consumer) => ({
          consumer,
          outcome: 'done',
          call_uuid: uuid,
          firm_uuid: client.firmUuid,
        })),
      );
      expect(events.every((line) => typeof line['ms'] === 'number')).toBe(true);
    });

    it('leads from the upload of a recording through its transcription to its analysis', async () => {
      const { traceId, spanId, headers } = identity();
      const form = new FormData();
      form.set('metadata', JSON.stringify(metadataOf('a.wav')));
      form.set('audio_file', new Blob([new Uint8Array(silence(1))]), 'a.wav');
      const uploaded = await fetchWhenAvailable(`${service.url}/api/v1/audio/upload`, {
        method: 'POST',
        headers,
        body: form,
      });
      const answer = (await uploaded.json()) as { audio_id: string };
      expect({ status: uploaded.status, answer }).toMatchObject({ status: 200 });
      await ended(answer.audio_id);

      expect(pathUp(await spansOf(traceId, LAST, spanId), LAST, spanId)).toEqual([
        `ingest: ${LAST}`,
        'analysis: analysis transcript.ready.v1',
        'transcription: transcription audio.stored.v1',
        'ingest: call_analysis.ingest.v1.Ingest/RegisterCall',
        'audio: call_analysis.audio.v1.Audio/UploadRecording',
        'gateway: POST /api/v1/audio/upload',
        'the client',
      ]);
    });
  });
}
