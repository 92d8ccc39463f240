import type { Deployment } from 'kubernetes-types/apps/v1.d.ts';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.d.ts';
import type { ConfigMap, Secret, Service, ServiceAccount } from 'kubernetes-types/core/v1.d.ts';
import type { Ingress, NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';

/** The kinds that the manifests may hold, by `apiVersion` and `kind`, with the types of the Kubernetes API. */
export interface Kinds {
  readonly 'apps/v1 Deployment': Deployment;
  readonly 'autoscaling/v2 HorizontalPodAutoscaler': HorizontalPodAutoscaler;
  readonly 'networking.k8s.io/v1 Ingress': Ingress;
  readonly 'networking.k8s.io/v1 NetworkPolicy': NetworkPolicy;
  readonly 'policy/v1 PodDisruptionBudget': PodDisruptionBudget;
  readonly 'v1 ConfigMap': ConfigMap;
  readonly 'v1 Secret': Secret;
  readonly 'v1 Service': Service;
  readonly 'v1 ServiceAccount': ServiceAccount;
}
