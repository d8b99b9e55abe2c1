import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { type OwnServer, ownServer } from '../../packages/testing/servers/own-server.ts';
import { freePort } from '../../packages/testing/servers/ports.ts';
import { makeDirectory, processRunner } from '../../packages/testing/servers/process.ts';
import { clusterApi } from './api.ts';
import type { controlPlanePrograms } from './programs.ts';

/** How often the autoscaler looks; Kubernetes' own default is 15 s. */
export const AUTOSCALER_LOOKS_EVERY_S = 5;

/** etcd, the API server, all controllers but that of nodes' life, and the scheduler, on loopback. */
export async function startControlPlane(programs: Awaited<ReturnType<typeof controlPlanePrograms>>) {
  const servers: OwnServer[] = [];
  async function stop(): Promise<void> {
    for (const server of servers.toReversed()) await server.stop();
  }
  try {
    const [clients, peers, port] = [await freePort(), await freePort(), await freePort()];
    const etcd = await makeDirectory('etcd');
    const [clientsUrl, peersUrl] = [`http://127.0.0.1:${clients}`, `http://127.0.0.1:${peers}`];
    const member = [
      `--data-dir=${etcd}/data`,
      `--listen-client-urls=${clientsUrl}`,
      `--advertise-client-urls=${clientsUrl}`,
      `--listen-peer-urls=${peersUrl}`,
      `--initial-advertise-peer-urls=${peersUrl}`,
      `--initial-cluster=default=${peersUrl}`,
      '--unsafe-no-fsync',
    ];
    servers.push(
      await ownServer(
        'etcd',
        processRunner({ directory: etcd, command: programs.etcd, args: member }),
        async () => (await fetch(`${clientsUrl}/health`)).ok,
      ),
    );

    const directory = await makeDirectory('kube-apiserver');
    const token = randomUUID();
    const url = `https://127.0.0.1:${port}`;
    const own = processRunner({
      directory,
      command: programs.apiServer,
      args: apiServerArgs(directory, token, port, clientsUrl),
    });
    const certificate = join(directory, 'certificates/apiserver.crt');
    const kubeconfig = join(directory, 'kubeconfig');
    servers.push(
      await ownServer('kube-apiserver', own, async () => {
        const authority = readFileSync(certificate, 'utf8');
        return (await clusterApi(url, token, authority).ask<string>('GET', '/readyz')) === 'ok';
      }),
    );
    writeFileSync(kubeconfig, JSON.stringify(configOf(url, token, certificate)));

    const others = [
      {
        name: 'kube-controller-manager',
        command: programs.controllerManager,
        args: [
          `--service-account-private-key-file=${directory}/service-account.key`,
          `--root-ca-file=${certificate}`,
          // There is no kubelet to report that a node lives.
          '--controllers=*,-node-lifecycle-controller',
          `--horizontal-pod-autoscaler-sync-period=${AUTOSCALER_LOOKS_EVERY_S}s`,
        ],
      },
      { name: 'kube-scheduler', command: programs.scheduler, args: [] },
    ];
    for (const { name, command, args } of others) {
      const healthPort = await freePort();
      const folder = await makeDirectory(name);
      const all = [
        `--kubeconfig=${kubeconfig}`,
        `--cert-dir=${folder}`,
        '--bind-address=127.0.0.1',
        `--secure-port=${healthPort}`,
        '--leader-elect=false',
        '--kube-api-qps=200',
        '--kube-api-burst=400',
        ...args,
      ];
      servers.push(
        await ownServer(name, processRunner({ directory: folder, command, args: all }), () =>
          isHealthy(`https://127.0.0.1:${healthPort}/healthz`),
        ),
      );
    }
    // `kubeconfig` is a file for helm.
    return { api: clusterApi(url, token, readFileSync(certificate, 'utf8')), kubeconfig, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function apiServerArgs(directory: string, token: string, port: number, etcd: string): string[] {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const [privateFile, publicFile] = [join(directory, 'service-account.key'), join(directory, 'service-account.pub')];
  writeFileSync(privateFile, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  writeFileSync(publicFile, publicKey.export({ type: 'spki', format: 'pem' }));
  const tokens = join(directory, 'tokens.csv');
  writeFileSync(tokens, `${token},test,test,system:masters\n`, { mode: 0o600 });
  mkdirSync(join(directory, 'certificates'));
  return [
    `--etcd-servers=${etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${directory}/certificates`,
    `--token-auth-file=${tokens}`,
    '--authorization-mode=RBAC',
    '--anonymous-auth=false',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${publicFile}`,
    `--service-account-signing-key-file=${privateFile}`,
    // The address of this machine's loopback cannot be that of a Service.
    '--endpoint-reconciler-type=none',
  ];
}

function configOf(url: string, token: string, certificate: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority': certificate } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  };
}

/** These two make a certificate for themselves in memory, and on loopback only their health is asked for. */
function isHealthy(url: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    request(url, { rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    })
      .once('error', reject)
      .end();
  });
}
