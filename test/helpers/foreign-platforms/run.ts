import { type Ran, type RunOptions, type TestCli, testCli, test as withCli } from '../cli.ts'
import type { ForeignPlatform } from './platform.ts'

/** Runs the program on its own home, signed in to a platform by the environment. */
export function cliFor({ url, key, transport }: ForeignPlatform): TestCli {
  return testCli({ transport, env: { LEARNCTL_URL: url, LEARNCTL_API_KEY: key } })
}

/**
 * A vitest test with `run`, which runs a command line against a platform: `await run(railsPlatform(), 'courses list')`.
 * Each platform has a home directory of its own, which is gone after the test.
 */
export const test = withCli.extend('run', async ({ task: _ }, { onCleanup }) => {
  const programs = new Map<ForeignPlatform, TestCli>()
  onCleanup(() => {
    for (const cli of programs.values()) cli.remove()
  })
  return (platform: ForeignPlatform, line: string, options?: RunOptions): Promise<Ran> => {
    const cli = programs.get(platform) ?? cliFor(platform)
    programs.set(platform, cli)
    return cli.run(line, options)
  }
})
