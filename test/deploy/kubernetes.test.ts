import { basename, dirname, join } from 'node:path';
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.d.ts';
import { describe, expect, test } from 'vitest';
import { documentsOf, filesOf, settingsOf } from './files.ts';
import { type Manifest, manifestProblems } from './kubernetes-check.ts';

const BASE = 'deploy/kubernetes/base';
const FOREIGN = ['kustomization.yaml', 'external-secret.yaml']; // kinds of extensions, not of the API
const manifests: Manifest[] = filesOf('deploy/kubernetes/**/*.yaml')
  .filter((path) => !FOREIGN.includes(basename(path)))
  .flatMap((path) => documentsOf(path).map((object) => ({ path, object })));
const base = (name: string) => documentsOf(join(BASE, name))[0];

// The first test below proves these types.
const deployment = base('deployment.yaml') as Deployment;
const autoscaler = base('autoscaler.yaml') as HorizontalPodAutoscaler;
const pod = deployment.spec?.template.spec;
const container = pod?.containers[0];

describe('the manifests', () => {
  test('have the fields of the API, and no field that it would ignore', () => {
    expect(manifests.length).toBeGreaterThan(7);
    expect(manifestProblems(manifests)).toEqual([]);
  });

  test('would fail with an unknown field, a wrong type or a missing field', () => {
    const wrong = (container: object) => {
      const spec = { selector: {}, template: { spec: { containers: [container] } } };
      return { path: 'x', object: { apiVersion: 'apps/v1', kind: 'Deployment', spec } };
    };

    const problems = manifestProblems([
      wrong({ name: 'a', readOnlyRootFs: true }),
      wrong({ name: 'a', ports: [{ containerPort: '3001' }] }),
      wrong({ image: 'a' }),
    ]);

    expect(problems).toHaveLength(3);
    expect(problems[0]).toContain('readOnlyRootFs');
  });

  test('are the files that the kustomization names', () => {
    const { resources, configMapGenerator } = Object(base('kustomization.yaml'));
    const there = filesOf(`${BASE}/*.yaml`).map((path) => basename(path));

    expect([...resources, 'kustomization.yaml'].sort()).toEqual(there);
    expect(configMapGenerator).toEqual([{ name: 'behest-settings', envs: ['behest.env'] }]);
  });

  test('find one another by their names and labels', () => {
    const label = { 'app.kubernetes.io/name': 'behest' };
    const selectors = ['service.yaml', 'disruption-budget.yaml', 'network-policy.yaml'].map((name) => {
      const { selector, podSelector } = Object(base(name)).spec;
      return (selector ?? podSelector).matchLabels ?? selector;
    });

    expect(deployment.spec?.selector.matchLabels).toEqual(label);
    expect(deployment.spec?.template.metadata?.labels).toEqual(label);
    expect(selectors).toEqual([label, label, label]);
    expect(autoscaler.spec?.scaleTargetRef).toEqual({
      apiVersion: deployment.apiVersion,
      kind: deployment.kind,
      name: deployment.metadata?.name,
    });
    expect(pod?.serviceAccountName).toBe(Object(base('service-account.yaml')).metadata.name);
    expect(Object(base('service.yaml')).spec.ports[0].targetPort).toBe('http');
  });

  test('give every secret file that the settings name, from either kind of secret', () => {
    const mount = container?.volumeMounts?.[0]?.mountPath ?? '';
    const files = container?.env?.map(({ value }) => value ?? '') ?? [];
    const secret = Object(documentsOf('deploy/kubernetes/examples/secret.yaml')[0]);
    const external = Object(documentsOf('deploy/kubernetes/examples/external-secret.yaml')[0]);
    const externalKeys = external.spec.data.map(({ secretKey }: { secretKey: string }) => secretKey);

    expect(files.map((file) => dirname(file))).toEqual(files.map(() => mount));
    expect(Object.keys(secret.stringData)).toEqual(files.map((file) => basename(file)));
    expect(externalKeys).toEqual(files.map((file) => basename(file)));
    const secretName = pod?.volumes?.[0]?.secret?.secretName;
    expect([secret.metadata.name, external.spec.target.name]).toEqual([secretName, secretName]);
  });
});

describe('a pod', () => {
  test('meets the restricted pod security standard, and writes no file', () => {
    expect(pod?.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod?.automountServiceAccountToken).toBe(false);
    expect(pod?.volumes?.map((volume) => Object.keys(volume))).toEqual([['name', 'secret']]);
  });

  test('restarts on a fault that a restart mends, and gets requests when its stores answer', () => {
    const port = 'http';

    expect(container?.livenessProbe?.httpGet).toEqual({ path: '/livez', port });
    expect(container?.startupProbe?.httpGet).toEqual({ path: '/livez', port });
    expect(container?.readinessProbe?.httpGet).toEqual({ path: '/health', port });
    expect(container?.ports).toEqual([{ name: port, containerPort: 3001 }]);
  });

  test('gets enough time to end', () => {
    const wait = container?.lifecycle?.preStop?.sleep?.seconds ?? 0;
    const drain = Number(settingsOf(`${BASE}/behest.env`).SHUTDOWN_TIMEOUT_SECONDS);

    expect(wait).toBeGreaterThan(0);
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(wait + drain);
  });
});

test('the most pods leave some of PostgreSQL’s default connections free', () => {
  const each = Number(settingsOf(`${BASE}/behest.env`).DATABASE_POOL_MAX);
  const most = (autoscaler.spec?.maxReplicas ?? 0) + 1; // an update runs one more pod
  const migrating = 1;

  expect(most * each + migrating).toBeLessThan(97); // 100, less three for superusers
});
