import type { Reporter, TestCase, TestModule } from 'vitest/node'

const maxListed = 20

/**
 * Lists, after a run, tests above `slowTestThreshold` without the tag `slow`: they make `npm test` slow. It never fails a run,
 * because on a busy machine every test takes longer.
 */
export default class SlowTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const found = modules
      .filter(({ project }) => project.name === 'learnctl')
      .flatMap((module) => [...module.children.allTests()])
      .filter((test) => test.diagnostic()?.slow && !test.tags.includes('slow'))
      .sort((one, other) => durationOf(other) - durationOf(one))
    if (found.length === 0) return
    console.log(`${found.length} tests without the tag "slow" took long:`)
    for (const test of found.slice(0, maxListed))
      console.log(`  ${Math.round(durationOf(test))} ms  ${test.module.relativeModuleId} > ${test.fullName}`)
  }
}

function durationOf(test: TestCase): number {
  return test.diagnostic()?.duration ?? 0
}
