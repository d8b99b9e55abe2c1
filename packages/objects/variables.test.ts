import { describeVariables, parseConfig } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import { s3From, S3Variables, requiredS3, RequiredS3Variables } from './variables.ts';

const four = {
  S3_ENDPOINT: 'http://store:7070',
  S3_BUCKET: 'calls',
  S3_ACCESS_KEY: 'access',
  S3_SECRET_KEY: 'a secret that nobody may read',
};
const read = (env: Record<string, string>) => s3From(parseConfig(S3Variables, env));

describe('variables of the object store', () => {
  it('configure a store with four variables, and the others have defaults', () => {
    expect(read(four)).toEqual({
      store: 's3',
      endpoint: 'http://store:7070',
      publicEndpoint: 'http://store:7070',
      bucket: 'calls',
      accessKey: 'access',
      secretKey: 'a secret that nobody may read',
      region: 'us-east-1',
      pathStyle: true,
      createBucket: true,
    });
  });

  it('override the defaults', () => {
    const rest = {
      S3_PUBLIC_ENDPOINT: 'https://files.example.com/',
      S3_REGION: 'eu-central-1',
      S3_PATH_STYLE: 'off',
      S3_CREATE_BUCKET: 'off',
    };
    const pages = { S3_CORS_ORIGINS: 'https://app.example.com, http://localhost:3000' };
    expect(read({ ...four, ...pages })?.corsOrigins).toEqual(['https://app.example.com', 'http://localhost:3000']);
    expect(read({ ...four, ...rest })).toMatchObject({
      publicEndpoint: 'https://files.example.com',
      region: 'eu-central-1',
      pathStyle: false,
      createBucket: false,
    });
  });

  it('configure no store when none is set', () => {
    expect(read({})).toBeUndefined();
    expect(read({ S3_ENDPOINT: '', S3_BUCKET: '' })).toBeUndefined();
  });

  it('are refused when only some are set, naming the missing ones', () => {
    expect(() => read({ S3_ENDPOINT: four.S3_ENDPOINT, S3_BUCKET: 'calls' })).toThrow(
      'S3_ENDPOINT and S3_BUCKET are set, so S3_ACCESS_KEY and S3_SECRET_KEY must be set too.',
    );
    expect(() => read({ S3_PUBLIC_ENDPOINT: 'https://files.example.com' })).toThrow('S3_ENDPOINT, S3_BUCKET');
  });

  it('are required for services in processes of their own', () => {
    expect(requiredS3(four)).toEqual(read(four));
    expect(() => requiredS3({})).toThrow(
      'S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY and S3_SECRET_KEY must be set for a service in a process of its own',
    );
    const required = describeVariables([RequiredS3Variables]).filter((each) => each.required);
    expect(required.map(({ name }) => name)).toEqual(Object.keys(four));
  });

  it.each([
    ['S3_ENDPOINT', 'store:7070'],
    ['S3_ENDPOINT', 'ftp://store'],
    ['S3_ENDPOINT', 'http://store/path'],
    ['S3_ENDPOINT', 'http://me:password@store'],
    ['S3_PUBLIC_ENDPOINT', 'https://files.example.com/?x'],
    ['S3_BUCKET', 'Calls'],
    ['S3_BUCKET', '10.0.0.1'],
    ['S3_BUCKET', 'a..b'],
    ['S3_REGION', 'eu central'],
    ['S3_PATH_STYLE', 'yes'],
    ['S3_CORS_ORIGINS', 'app.example.com'],
    ['S3_CORS_ORIGINS', 'https://app.example.com/page'],
  ])('refuse %s=%s', (name, value) => {
    expect(() => read({ ...four, [name]: value })).toThrow(name);
  });

  it('all have a description', () => {
    for (const shape of Object.values(S3Variables.shape)) expect(shape.meta()?.description).toMatch(/\.$/);
  });
});
