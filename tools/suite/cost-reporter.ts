import { relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { programSeconds } from '../machine/processor-time.ts';
import { groups, unitsFor } from './budgets.ts';
import { secondsOfUnit } from './unit.ts';

const DEAREST = 10;

/** Tells the process that started Vitest the paths of the files over their budget. */
export interface Costs {
  readonly overBudget: readonly string[];
}

interface FileCost {
  readonly path: string;
  readonly seconds: number;
  readonly budget: number;
}

/** Prints where the processor time of a run went, and compares each file with its budget. */
class CostReporter implements Reporter {
  #unit = 1;
  #root = '';

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
    this.#unit = secondsOfUnit(); // now, while nothing else runs
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => this.#costOf(module)).sort((a, b) => b.seconds - a.seconds);
    const over = files.filter(({ seconds, budget }) => seconds > budget && !process.env.TEST_LONG);
    const overBudget = over.map(
      ({ path, seconds, budget }) => `${path} used ${told(seconds)} of ${told(budget)} core-seconds`,
    );
    const loading = modules.reduce((sum, module) => sum + (module.meta().loadSeconds ?? 0), 0);
    process.stdout.write(`${[...this.#summary(files, loading), ...overBudget].join('\n')}\n`);
    process.send?.({ overBudget: over.map(({ path }) => path) } satisfies Costs);
  }

  #costOf(module: TestModule): FileCost {
    const path = relative(this.#root, module.moduleId).replaceAll('\\', '/');
    return { path, seconds: module.meta().costSeconds ?? 0, budget: unitsFor(path) * this.#unit };
  }

  #summary(files: readonly FileCost[], loading: number): string[] {
    const inGroup = groups.map(([name]) => {
      const own = files.filter(({ path }) => groups.find(([, pattern]) => pattern.test(path))?.[0] === name);
      return [name, own.reduce((sum, { seconds }) => sum + seconds, 0)] as const;
    });
    const { user, system } = process.cpuUsage();
    const parts: readonly (readonly [string, number])[] = [
      ...inGroup,
      ['loading the files', loading],
      ['PostgreSQL', programSeconds(process.pid, 'postgres')],
      ['Redis', programSeconds(process.pid, 'redis-server')],
      ['Vitest', (user + system) / 1e6],
    ];
    // Not from the system's own sums, where a process is missing whose parent ended before it.
    const all = parts.reduce((sum, [, seconds]) => sum + seconds, 0);
    return [
      `\nProcessor time in core-seconds; a unit takes ${this.#unit.toFixed(2)} here`,
      ...parts.filter(([, seconds]) => seconds > 0).map(([name, seconds]) => `${told(seconds)}  ${name}`),
      `${told(all)}  all of it`,
      'Dearest files, and their budgets',
      ...files
        .slice(0, DEAREST)
        .map(({ path, seconds, budget }) => `${told(seconds)} of ${told(budget)}  ${path}`),
    ];
  }
}

const told = (seconds: number) => seconds.toFixed(1).padStart(6);

export default CostReporter; // Vitest takes a reporter by its default export
