import { randomUUID } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { callCompleted, WebhooksUnderTest } from '../test/webhooks-under-test.ts';

/** The addresses of names, which tests change. Any other name does not resolve. */
const names = new Map<string, readonly string[]>();
const asked: string[] = [];

function resolve(
  hostname: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
): void {
  asked.push(hostname);
  const found = names.get(hostname);
  if (found === undefined) return done(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []);
  return done(
    null,
    found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  );
}

const service = new WebhooksUnderTest({ allowPrivate: false }, { resolve });

const caller = () => ({ firm_uuid: randomUUID(), user_uuid: randomUUID(), address: '192.0.2.1' });
const create = (url: string) => service.client.createWebhook({ caller: caller(), url, events: ['call.completed'] });

const hosts = [
  '127.0.0.1',
  'localhost',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '127.1',
  '0',
  '0.0.0.0',
  '169.254.169.254',
  '0xa9fea9fe',
  '10.0.0.1',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::7f00:1]',
  '[fd00:ec2::254]',
  '①②⑦.⓪.⓪.①',
  'inside.example',
  'both.example',
  'INSIDE.example.',
];

describe('a webhook', () => {
  it.each(hosts)('to https://%s is refused', async (host) => {
    names.set('localhost', ['127.0.0.1', '::1']);
    names.set('inside.example', ['10.1.2.3']);
    names.set('inside.example.', ['10.1.2.3']);
    names.set('both.example', ['93.184.216.34', '192.168.0.1']);
    await expect(create(`https://${host}/hook`)).rejects.toMatchObject({ kind: 'invalid', code: 'URL_NOT_ALLOWED' });
  });

  it('by http is refused', async () => {
    await expect(create('http://example.com/')).rejects.toMatchObject({ code: 'URL_NOT_ALLOWED' });
  });

  it.each([
    'ftp://example.com/',
    'javascript:alert(1)',
    'https://user:pass@example.com/',
    'https://example.com/#part',
    'example.com',
    `https://example.com/${'a'.repeat(2048)}`,
  ])('with the URL %.60s is a fault of the field', async (url) => {
    await expect(create(url)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('url'),
    });
  });

  it('whose name is public, or does not resolve yet, is accepted', async () => {
    names.set('public.example', ['93.184.216.34', '2606:4700:4700::1111']);
    for (const host of ['public.example', 'not-yet.example', '93.184.216.34']) await create(`https://${host}/hook`);
  });

  it('is not changed to an address that is refused', async () => {
    const webhook = await (async () => {
      const who = caller();
      const created = await service.client.createWebhook({
        caller: who,
        url: 'https://9.9.9.9/',
        events: ['call.failed'],
      });
      const changed = service.client.changeWebhook({
        caller: who,
        webhook_uuid: created.uuid,
        url: 'https://[::1]/',
      });
      await expect(changed).rejects.toMatchObject({ code: 'URL_NOT_ALLOWED' });
      return created;
    })();
    expect(webhook.url).toBe('https://9.9.9.9/');
  });
});

describe('a name whose address becomes private after it was accepted', () => {
  it('is judged again when it is used, and nothing is sent', async () => {
    const port = new URL(service.sink.url).port;
    names.set('rebinding.example', ['93.184.216.34']);
    const hook = await service.webhook({ url: `https://rebinding.example:${port}/hook` });
    names.set('rebinding.example', ['127.0.0.1']);
    asked.length = 0;
    await service.publish(callCompleted(hook.firmUuid));
    await waitUntil(async () => (await service.deliveries(hook)).items[0]?.attempts === 1);
    expect((await service.deliveries(hook)).items).toMatchObject([
      { status: 'pending', last_error: 'rebinding.example is not an address on the public internet' },
    ]);
    // One look-up, whose answer was judged and would have been connected to.
    expect(asked).toEqual(['rebinding.example']);
    expect(service.sink.received).toEqual([]);
  });

  it('is refused when it was accepted while private addresses were allowed', async () => {
    const hook = await service.webhook({ url: 'https://9.9.9.9/' });
    await service.db.query('UPDATE endpoint SET url = $2 WHERE uuid = $1', [hook.uuid, `${service.sink.url}/hook`]);
    await service.publish(callCompleted(hook.firmUuid));
    await waitUntil(async () => (await service.deliveries(hook)).items[0]?.attempts === 1);
    expect(service.sink.received).toEqual([]);
  });
});
