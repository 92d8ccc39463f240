import type { Reporter, TestModule } from 'vitest/node';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** What a run says of itself: the tests of the files without a fault, and the files that have one. */
export interface Outcome {
  readonly good: Counts;
  readonly faulty: Counts;
  readonly faultyFiles: readonly string[];
}

/** Sends the outcome to the process that started Vitest. */
class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const faulty = modules.filter((module) => countsOf([module]).failed > 0);
    const good = modules.filter((module) => !faulty.includes(module));
    process.send?.({
      good: countsOf(good),
      faulty: countsOf(faulty),
      faultyFiles: faulty.map(({ relativeModuleId }) => relativeModuleId),
    } satisfies Outcome);
  }
}

function countsOf(modules: readonly TestModule[]): Counts {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const count = (state: string) => tests.filter((test) => test.result().state === state).length;
  const unloaded = modules.filter((module) => module.errors().length > 0).length;
  return { passed: count('passed'), failed: count('failed') + unloaded, skipped: count('skipped') };
}

export default CountsReporter; // Vitest loads a reporter by its default export
