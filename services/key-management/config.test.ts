import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '@call-analysis/runtime';
import { Environment } from './config.ts';

const env = {
  DATABASE_URL: 'postgresql://key_management:secret@127.0.0.1:5432/calls',
  BUS_DATABASE_URL: 'postgresql://bus:secret@127.0.0.1:5432/calls',
  LISTEN: 'unix:/run/calls/key-management.sock',
  API_KEY_PEPPER: 'thirty-two bytes of pepper or more',
};

describe('the environment', () => {
  it('becomes the settings', () => {
    expect(parseConfig(Environment, { ...env, HOME: '/root' })).toEqual({
      databaseUrl: env.DATABASE_URL,
      bus: { transport: 'embedded', url: env.BUS_DATABASE_URL, schema: 'bus' },
      listen: env.LISTEN,
      pepper: env.API_KEY_PEPPER,
    });
  });

  it.each(Object.keys(env))('is refused without %s, which is named', (name) => {
    expect(() => parseConfig(Environment, { ...env, [name]: undefined })).toThrow(`${name} must be set.`);
  });

  it('is refused with a short pepper, which is not repeated', () => {
    const pepper = 'short-and-secret';
    const parse = () => parseConfig(Environment, { ...env, API_KEY_PEPPER: pepper });
    expect(parse).toThrow(/API_KEY_PEPPER must have at least 32/);
    expect(parse).not.toThrow(new RegExp(pepper));
  });

  it.each(['8080', 'localhost', 'unix:relative', 'http://localhost:80'])('is refused with the address %s', (LISTEN) => {
    expect(() => parseConfig(Environment, { ...env, LISTEN })).toThrow('LISTEN must be host:port or unix:/path');
  });
});
