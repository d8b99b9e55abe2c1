import { tmpdir } from 'node:os';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Batch, type Client, newFirm } from '../../test/client/new-firm.ts';
import { eventually } from '../../test/client/retry.ts';
import { silence } from '../../test/client/silence.ts';
import { csvOf, metadataOf } from '../../test/client/valid-uploads.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';

const CALLS = 30;

let service: SystemUnderTest;
let client: Client;

/** The metrics of each process. */
async function pages(): Promise<string[]> {
  return Promise.all(
    service.metricsUrls.map(async (url) => {
      const answer = await fetch(url);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      return answer.text();
    }),
  );
}

/** The sum of a metric's series that have all of these labels. */
function figure(text: string, name: string, labels: Record<string, string> = {}): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return text
    .split('\n')
    .filter(
      (line) =>
        (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && wanted.every((each) => line.includes(each)),
    )
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

export function describeMetrics(system: () => SystemUnderTest): void {
  beforeAll(async () => {
    service = system();
    client = await newFirm(service);
  });

  describe('GET /metrics', () => {
    it('counts requests, events and calls in the format of Prometheus, without any data of firms', async () => {
      const before = (await pages()).join('');
      const key = await client.upload(csvOf(Array.from({ length: CALLS }, (_, n) => ({ partner_call_id: `m-${n}` }))));
      const { data } = await client.call<{ data: Batch }>('POST', '/api/v1/calls/process-upload', {
        metadata_key: key,
      });
      await eventually(
        async () => (await client.call<Batch>('GET', `/api/v1/calls/batches/${data.batch_id}`)).finished_at !== null,
      );
      const recording = metadataOf('a.wav');
      const uploaded = await client.uploadRecording<{ audio_id: string }>(
        new Blob([new Uint8Array(silence(2))]),
        'a.wav',
        recording,
      );
      expect(uploaded.status).toBe(200);
      expect((await client.uploadRecording(new Blob(['no sound']), 'a.wav', recording)).status).toBe(400);
      await eventually(
        async () =>
          (await client.call<{ status: string }>('GET', `/api/v1/calls/${uploaded.body.audio_id}`)).status ===
          'completed',
      );
      for (const path of ['/api/v1/calls/not-a-uuid', '/nowhere/at/all', '/nowhere/else'])
        await fetch(`${service.url}${path}`);
      // A counter may grow shortly after the result is visible.
      const each = await eventually(async () => {
        const now = await pages();
        const text = now.join('');
        const handled = ['analysis', 'ingest.catalogue'].map(
          (consumer) =>
            figure(text, 'call_analysis_events_handled_total', { consumer }) -
            figure(before, 'call_analysis_events_handled_total', { consumer }),
        );
        const nowhere = { route: 'none', status: '404' };
        const unknown =
          figure(text, 'call_analysis_http_request_duration_seconds_count', nowhere) -
          figure(before, 'call_analysis_http_request_duration_seconds_count', nowhere);
        return Math.min(...handled) > CALLS &&
          unknown >= 2 &&
          text.includes('call_analysis_transcription_workers{state="busy"} 0')
          ? now
          : undefined;
      });
      const text = each.join('');
      const grown = (name: string, labels?: Record<string, string>) =>
        figure(text, name, labels) - figure(before, name, labels);

      expect(
        grown('call_analysis_http_request_duration_seconds_count', {
          method: 'POST',
          route: '/api/v1/calls/process-upload',
          status: '200',
        }),
      ).toBe(1);
      expect(grown('call_analysis_http_request_duration_seconds_count', { route: 'none', status: '404' })).toBe(2);
      expect(
        grown('call_analysis_rpc_duration_seconds_count', {
          service: 'ingest',
          method: 'ProcessUpload',
          outcome: 'ok',
        }),
      ).toBe(1);
      expect(grown('call_analysis_uploads_total', { kind: 'transcription' })).toBe(1);
      expect(grown('call_analysis_upload_rows_total', { kind: 'transcription', outcome: 'accepted' })).toBe(CALLS);
      expect(grown('call_analysis_recordings_total', { via: 'upload', outcome: 'taken' })).toBe(1);
      expect(grown('call_analysis_recordings_total', { via: 'upload', outcome: 'refused' })).toBe(1);
      expect(grown('call_analysis_transcribed_audio_seconds_total')).toBe(2);
      for (const [of, consumer] of [
        ['analysis', 'analysis'],
        ['ingest', 'ingest.catalogue'],
      ] as const) {
        expect(grown('call_analysis_events_handled_total', { service: of, consumer, outcome: 'done' })).toBe(CALLS + 1);
        for (const name of [
          'call_analysis_events_waiting',
          'call_analysis_events_in_progress',
          'call_analysis_dead_letters',
          'call_analysis_oldest_event_seconds',
        ]) {
          expect(text).toContain(`\n${name}{service="${of}",consumer="${consumer}"} `);
        }
      }
      expect(text).toMatch(/^call_analysis_database_connections\{service="ingest",state="idle"\} \d+$/m);
      expect(text).toMatch(/^call_analysis_transcription_workers\{state="busy"\} 0$/m);
      expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m);
      expect(text).toMatch(/^call_analysis_transcription_workers\{state="idle"\} 1$/m);
      expect(text).toContain('\n# TYPE call_analysis_calls gauge\n');

      // The format allows empty lines.
      for (const line of text.split('\n').filter((each) => each !== '')) {
        expect(line).toMatch(
          /^(# (HELP|TYPE) \w+ .+|[a-zA-Z_:][\w:]*(\{[a-z_]+="([^"\\]|\\.)*"(,[a-z_]+="([^"\\]|\\.)*")*\})? (-?[\d.e+-]+|NaN|\+Inf))$/,
        );
      }
      for (const page of each) {
        const names = page.split('\n').flatMap((line) => /^# TYPE (\w+)/.exec(line)?.[1] ?? []);
        expect(names).toEqual([...new Set(names)]);
        const series = page
          .split('\n')
          .filter((line) => line !== '' && !line.startsWith('#'))
          .map((line) => line.slice(0, line.lastIndexOf(' ')));
        expect(series).toEqual([...new Set(series)]);
      }
      expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
      expect(text).not.toContain('nowhere');
      expect(text).not.toContain(tmpdir());
    });
  });
}
