import { describe, expect, it } from '@jest/globals';
import { Closing } from './closing.ts';

describe('Closing', () => {
  it('closes in reverse order of opening, one after the other', async () => {
    const closed: string[] = [];
    const closing = new Closing();
    for (const name of ['database', 'bus', 'server']) {
      closing.add(name, async () => {
        await Promise.resolve();
        closed.push(name);
      });
    }
    await closing.close();
    expect(closed).toEqual(['server', 'bus', 'database']);
  });

  it('closes the rest when one fails, and reports every failure', async () => {
    const closed: string[] = [];
    const logged: object[] = [];
    const log = { error: (fields: object) => logged.push(fields) } as never;
    const closing = new Closing(log);
    closing.add('database', () => void closed.push('database'));
    closing.add('bus', () => Promise.reject(new Error('no broker')));
    closing.add('server', () => {
      throw new Error('no socket');
    });
    const failure: unknown = await closing.close().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(AggregateError);
    expect((failure as AggregateError).errors).toMatchObject([
      { message: 'server did not close', cause: { message: 'no socket' } },
      { message: 'bus did not close', cause: { message: 'no broker' } },
    ]);
    expect(closed).toEqual(['database']);
    expect(logged).toHaveLength(2);
  });

  it('closes everything once, however often it is called', async () => {
    let times = 0;
    const closing = new Closing();
    closing.add('server', () => void (times += 1));
    await Promise.all([closing.close(), closing.close()]);
    await closing.close();
    expect(times).toBe(1);
  });

  it('continues without a part that takes longer than its bound', async () => {
    const closed: string[] = [];
    const closing = new Closing();
    closing.add('database', () => void closed.push('database'));
    closing.add('stuck', () => new Promise(() => {}), { boundMs: 20 });
    await expect(closing.close()).rejects.toMatchObject({ errors: [{ cause: { message: 'took longer than 20 ms' } }] });
    expect(closed).toEqual(['database']);
  });

  it('closes what is added while it closes', async () => {
    const closed: string[] = [];
    const closing = new Closing();
    closing.add('server', () => closing.add('late', () => void closed.push('late')));
    await closing.close();
    expect(closed).toEqual(['late']);
  });
});
