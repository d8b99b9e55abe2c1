import { expect, it } from '@jest/globals';
import { openHttpSender } from './http-sender.ts';

it('ends an attempt that has no connection yet when its signal aborts', async () => {
  const asked = Promise.withResolvers<void>();
  // Without an answer, the attempt does not get as far as a connection.
  const sender = openHttpSender({ allowPrivate: false, resolve: () => asked.resolve(), answerMs: 3_600_000 });
  const interrupt = new AbortController();
  const sending = sender.send('https://endpoint.example/', {}, '{}', interrupt.signal);
  await asked.promise;
  interrupt.abort(new Error('the service stops'));
  await expect(sending).rejects.toThrow('the service stops');
  await sender.close();
});
