import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Caller, type CallerOptions, createCaller } from '../../../src/client/caller.ts'
import type { PlatformFile } from '../../../src/client/platform/platform-schema.ts'
import type { HttpResponse } from '../../../src/contract/http.ts'
import { type Ran, type RunOptions, type TestCli, testCli, test as withCli } from '../cli.ts'
import type { DescribedPlatform, Seen } from './platforms.ts'

const quick = { sleep: async () => {}, random: () => 0.5 } satisfies Partial<CallerOptions>

/** A caller of a platform that gives one answer to everything, and the requests that it sent. */
export function answeredCaller(
  file: Omit<PlatformFile, 'learnctlPlatform' | 'name'> | null,
  answer: (seen: Seen, nth: number) => HttpResponse,
): { caller: Caller; seen: Seen[] } {
  const seen: Seen[] = []
  const caller = createCaller({
    ...quick,
    baseUrl: 'https://one.example',
    authorization: async () => 'Bearer key',
    platform: file && { learnctlPlatform: 1, name: 'One', ...file },
    transport: async (request) => {
      const { pathname: path, searchParams: query } = new URL(request.url)
      const one = { ...request, path, query, line: `${request.method} ${path}` }
      return answer(one, seen.push(one))
    },
  })
  return { caller, seen }
}

/**
 * A vitest test with `run`, which runs a command line against a platform, with its file in the environment. Each platform
 * has a home of its own, which is gone after the test.
 */
export const test = withCli.extend('run', async ({ task: _ }, { onCleanup }) => {
  const programs = new Map<DescribedPlatform, TestCli>()
  onCleanup(() => {
    for (const cli of programs.values()) cli.remove()
  })
  return (platform: DescribedPlatform, line: string, options: RunOptions = {}): Promise<Ran> => {
    const { url, key, file, transport } = platform
    const env = {
      LEARNCTL_URL: url,
      LEARNCTL_API_KEY: key,
      ...(file !== null && { LEARNCTL_PLATFORM: file }),
    }
    const cli = programs.get(platform) ?? testCli({ transport, env })
    programs.set(platform, cli)
    if (options.stdin !== undefined) writeFileSync(join(cli.cwd, 'input'), options.stdin)
    return cli.run(line, options)
  }
})
