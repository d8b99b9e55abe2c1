// node deploy/prepare-store/main.ts: creates the bucket and writes its policy, as the owner of the store. For stores
// that know the services by the access keys `ingest`, `audio`, `transcription` and `analysis`, such as the one of
// docker-compose.yml.
import { requiredS3 } from '../../packages/objects/index.ts';
import { grantRights } from '../../packages/objects/s3/bucket.ts';
import { createLog } from '../../packages/runtime/index.ts';

const READ = ['s3:GetObject'];
const WRITE = ['s3:PutObject', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts'];
const REMOVE = ['s3:DeleteObject'];
const ALL = [...READ, ...WRITE, ...REMOVE];
/** The requests to the bucket that a start makes. */
const BUCKET = [
  's3:ListBucket',
  's3:ListBucketMultipartUploads',
  's3:GetBucketVersioning',
  's3:GetLifecycleConfiguration',
  's3:PutLifecycleConfiguration',
];

try {
  const config = requiredS3(process.env);
  const objects = (...prefixes: string[]) => prefixes.map((prefix) => `arn:aws:s3:::${config.bucket}/${prefix}*`);
  const allow = (service: string, actions: string[], resources: string[]) => ({
    Effect: 'Allow',
    Principal: { AWS: [service] },
    Action: actions,
    Resource: resources,
  });
  const services = ['ingest', 'audio', 'transcription', 'analysis'];
  await grantRights(
    config,
    [
      ...services.map((service) => allow(service, BUCKET, [`arn:aws:s3:::${config.bucket}`])),
      // Of an installation that encrypts: the first service to start makes the data keys, all read them.
      ...services.map((service) => allow(service, [...READ, ...WRITE], objects('encryption/'))),
      // Keys of uploads begin with a firm's country, so what belongs to the audio service is excepted.
      allow('ingest', ALL, objects('')),
      {
        ...allow('ingest', [...WRITE, ...REMOVE], objects('recordings/', 'uploading/', 'playback/')),
        Effect: 'Deny',
      },
      allow('audio', ALL, objects('recordings/', 'uploading/', 'playback/', 'facts/')),
      allow('audio', [...READ, ...REMOVE], objects('frozen/')),
      allow('transcription', READ, objects('recordings/')),
      allow('transcription', ALL, objects('transcripts/', 'facts/')),
      allow('analysis', READ, objects('transcripts/')),
      allow('analysis', ALL, objects('facts/')),
    ],
    createLog({ name: 'prepare-store', level: 'info' }),
  );
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
