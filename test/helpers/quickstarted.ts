import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Ran, type TestCli, testCli } from './cli.ts'
import { start } from './new-academy.ts'

/** A home after quickstart, of which the tests of a worker get copies: quickstart takes a second. */
let original: Promise<{ home: string; ran: Ran }> | undefined

/** Puts into the home of a program what quickstart leaves there; returns what quickstart printed. */
export async function putQuickstart({ home, config }: TestCli): Promise<Ran> {
  original ??= makeOriginal()
  const { home: from, ran } = await original
  cpSync(from, home, { recursive: true })
  const profiles = join(config, 'profiles.json')
  writeFileSync(profiles, readFileSync(profiles, 'utf8').replaceAll(from, home))
  return { ...ran, stdout: ran.stdout.replaceAll(from, home) }
}

async function makeOriginal(): Promise<{ home: string; ran: Ran }> {
  let time = Date.parse(start)
  // No two records are made at the same time: lists have their order.
  const cli = testCli({ now: () => ++time })
  process.once('exit', cli.remove)
  const ran = await cli.run('quickstart')
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  return { home: cli.home, ran }
}
