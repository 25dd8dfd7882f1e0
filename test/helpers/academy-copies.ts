import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import { openAcademyOnPostgres } from '../../src/server/academy/open-academy.ts'
import { keyPathOf } from '../../src/server/access/sealing.ts'
import { test as base } from './academy.ts'
import type { OwnDatabase } from './postgres.ts'
import type { Fill } from './shared-academy.ts'
import {
  freshDirectory,
  onPostgres,
  openTestAcademy,
  stoppedClock,
  type TestAcademy,
} from './test-academy.ts'

/** Fills an academy, which takes much longer than to copy it. `open` makes a copy for one test, which closes it. */
export async function makeAcademyCopies<Records>(fill: Fill<Records>) {
  const { path: directory, remove } = freshDirectory()
  const original = join(directory, 'original.db')
  const database = onPostgres ? await (await import('./postgres.ts')).makeAcademyDatabase() : undefined
  const academy = await openTestAcademy(database ? { open: openOn(database) } : {})
  const owner = await academy.person('admin')
  const records = await fill(owner, academy)
  if (existsSync(keyPathOf(academy.path))) copyFileSync(keyPathOf(academy.path), keyPathOf(original))
  if (!database) await academy.database.run(sql`vacuum into ${original}`)
  await academy.close()

  async function copyOriginal(path: string): Promise<OwnDatabase | undefined> {
    if (existsSync(keyPathOf(original))) copyFileSync(keyPathOf(original), keyPathOf(path))
    if (database) return (await import('./postgres.ts')).makeDatabase(database.name)
    copyFileSync(original, path)
    return undefined
  }

  return {
    async open() {
      const path = join(directory, `${randomUUID()}.db`)
      const own = await copyOriginal(path)
      const clock = stoppedClock()
      clock.advance(academy.clock.now().getTime() - clock.now().getTime())
      const copy = await openTestAcademy({ beside: { path, clock }, ...(own && { open: openOn(own) }) })
      const close = async () => {
        await copy.close()
        await own?.remove()
        for (const file of [path, keyPathOf(path)]) rmSync(file, { force: true })
      }
      return {
        academy: { ...copy, close, [Symbol.asyncDispose]: close } satisfies TestAcademy,
        admin: { ...owner, ...copy.bearer(`Bearer ${owner.key}`) },
        records,
      }
    },
    async remove() {
      await database?.remove()
      remove()
    },
  }
}

function openOn({ url }: OwnDatabase) {
  return (_: string, now: () => Date) => openAcademyOnPostgres({ url, env: {} }, now)
}

/** A vitest test whose academy is a copy of one that was filled once for the file. */
export function testWithCopies<Records>(fill: Fill<Records>) {
  return base
    .extend('filler', { scope: 'file' }, async () => fill)
    .extend('copies', { scope: 'file' }, async ({ filler }, { onCleanup }) => {
      const copies = await makeAcademyCopies(filler)
      onCleanup(() => copies.remove())
      return copies
    })
    .extend('copy', async ({ copies }, { onCleanup }) => {
      const copy = await copies.open()
      onCleanup(() => copy.academy.close())
      return copy
    })
    .extend('academy', ({ copy }) => copy.academy)
    .extend('admin', ({ copy }) => copy.admin)
    .extend('records', ({ copy }) => copy.records)
}
