import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { duration, port } from './config.ts';
import { describeVariables, requiring, withSecrets } from './describe-variables.ts';

const Shape = z.object({
  PORT: port().default(8080).meta({ description: 'Where.' }),
  DRAIN: duration().prefault('5s').meta({ description: 'How long.' }),
  STYLE: z
    .enum(['on', 'off'])
    .default('on')
    .transform((text) => text === 'on')
    .meta({ description: 'Which.' }),
  EARS: z.string().optional().meta({ description: 'How many.', defaultText: 'one per core' }),
  DATABASE_URL: z.string().meta({ description: 'Where to.', secret: true }),
  S3_SECRET_KEY: z.string().optional().meta({ description: 'Who.' }),
});

it('a variable is described with its default as it would be written, and whether it is required and secret', () => {
  expect(describeVariables([Shape])).toEqual([
    { name: 'PORT', description: 'Where.', default: '8080', required: false, secret: false },
    { name: 'DRAIN', description: 'How long.', default: '5s', required: false, secret: false },
    { name: 'STYLE', description: 'Which.', default: 'on', required: false, secret: false },
    { name: 'EARS', description: 'How many.', default: 'one per core', required: false, secret: false },
    { name: 'DATABASE_URL', description: 'Where to.', default: undefined, required: true, secret: true },
    { name: 'S3_SECRET_KEY', description: 'Who.', default: undefined, required: false, secret: true },
  ]);
});

it('a variable in several shapes is described once, by the first', () => {
  const again = z.object({ PORT: port().default(1).meta({ description: 'Another.' }) });
  expect(describeVariables([again, Shape])).toHaveLength(6);
  expect(describeVariables([again, Shape])[0]).toMatchObject({ name: 'PORT', default: '1' });
});

it('a variable keeps its description when it is made optional or required', () => {
  const [url] = describeVariables([Shape.partial().pick({ DATABASE_URL: true })]);
  expect(url).toMatchObject({ description: 'Where to.', required: false, secret: true });
  const required = describeVariables([requiring(Shape, ['S3_SECRET_KEY'])]);
  expect(required.filter((each) => each.required).map(({ name }) => name)).toEqual(['DATABASE_URL', 'S3_SECRET_KEY']);
});

it('every secret may come from a file, and nothing else may', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'variables-')), 'secret');
  writeFileSync(file, 'hush\n');
  const env = withSecrets({ DATABASE_URL_FILE: file, S3_SECRET_KEY_FILE: file, PORT_FILE: file }, [Shape]);
  expect(env).toMatchObject({ DATABASE_URL: 'hush', S3_SECRET_KEY: 'hush' });
  expect(env['PORT']).toBeUndefined();
});
