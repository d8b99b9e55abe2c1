import { describe, expect, it } from '@jest/globals';
import { type Fixture, openFixture, tokenFor } from './test/fixture.ts';

const rejected = '/api/v1/calls/rejected/1a2b3c4d-0000-4000-8000-0000000000ff';

/** A download and an upload in progress, which continue when `goOn` is called. */
async function inProgress(edge: Fixture) {
  const [rest, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  edge.calls.downloadRejected = async function* () {
    yield { data: Buffer.from('a,b\n') };
    await rest.promise;
    yield { data: Buffer.from('1,2\n') };
  };
  edge.recordings.uploadRecording = async (requests) => {
    let bytes = 0;
    for await (const request of requests) {
      bytes += request.chunk?.length ?? 0;
      sent.resolve();
    }
    return { audio_id: String(bytes), ignored_fields: [] };
  };
  const authorization = `Bearer ${tokenFor('ADMIN')}`;
  const download = await fetch(edge.url + rejected, { headers: { authorization } });
  const form = new FormData();
  form.append('metadata', '{}');
  form.append('audio_file', new Blob([new Uint8Array(1_000_000)]), 'a.wav');
  const encoded = new Response(form);
  const type = encoded.headers.get('content-type')!;
  const body = new Uint8Array(await encoded.arrayBuffer());
  const pieces = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(body.subarray(0, 600_000));
      await rest.promise;
      controller.enqueue(body.subarray(600_000));
      controller.close();
    },
  });
  const headers = { authorization, 'content-type': type };
  const upload = fetch(`${edge.url}/api/v1/audio/upload`, { method: 'POST', headers, body: pieces, duplex: 'half' });
  await sent.promise;
  return { download, upload, goOn: rest.resolve };
}

describe('a gateway that closes', () => {
  it('finishes an upload and a download in progress without a warning', async () => {
    const edge = await openFixture({ closeMs: 60_000 });
    const { download, upload, goOn } = await inProgress(edge);
    const closed = edge.closeHttp();
    await expect(edge.request('GET', '/healthz')).rejects.toThrow();
    goOn();
    expect(await download.text()).toBe('a,b\n1,2\n');
    expect(await (await upload).json()).toMatchObject({ status: 'ok', audio_id: '1000000' });
    await closed;
    expect(edge.log.filter(({ level }) => level === 'warn')).toEqual([]);
    await edge.close();
  });

  it('logs how many requests it cuts off when the time is over', async () => {
    const edge = await openFixture({ closeMs: 100 });
    const { download, upload, goOn } = await inProgress(edge);
    const failed = Promise.all([
      download.text().catch(() => 'cut'),
      upload.then(
        () => 'answered',
        () => 'cut',
      ),
    ]);
    await edge.closeHttp();
    expect(await failed).toEqual(['cut', 'cut']);
    expect(edge.log).toContainEqual(
      expect.objectContaining({ level: 'warn', requests: 2, msg: 'requests that were not done in time are cut off' }),
    );
    goOn();
    await edge.close();
  });
});
