import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished } from 'vitest'
import { startServer, test } from './served.ts'

const program = `
  import { serve } from ${JSON.stringify(import.meta.resolve('../../../src/server/socket/serve.ts'))}
  const { address, firstKey } = await serve({
    path: process.argv[1], host: '127.0.0.1', port: 0, allowHosts: [], publicUrl: undefined,
    corsOrigins: [], perMinute: 0, writeLog: () => {},
  })
  console.log(JSON.stringify({ address, key: firstKey }))`

/** An academy served by a process of its own. */
async function startProcess(path: string): Promise<{ child: ChildProcess; address: string; key: string }> {
  // Node by itself strips types, but reads no pages (.tsx).
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(line) }
}

const batches = 60
const size = 40

/** Sends one batch of users under a key of its own; the ids it was told, or null where it was not answered. */
async function send(address: string, key: string, number: number): Promise<string[] | null> {
  const items = Array.from({ length: size }, (_, index) => ({ email: `user-${number}-${index}@b.example` }))
  try {
    const response = await fetch(`${address}/v1/users/batch`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': `"batch-${number}"`,
      },
      body: JSON.stringify({ items }),
    })
    const { results } = await response.json()
    return results.map(({ id }: { id: string }) => id)
  } catch {
    return null
  }
}

test('kill -9 among writes loses nothing that was answered, and the same requests again complete the rest', async ({
  directory,
}) => {
  const path = join(directory, 'academy.db')
  const { child, address, key } = await startProcess(path)
  onTestFinished(() => void child.kill('SIGKILL'))
  const answers: (string[] | null)[] = []
  let next = 0
  let answered = 0
  const worker = async () => {
    for (let number = next++; number < batches; number = next++) {
      const ids = await send(address, key, number)
      answers[number] = ids
      if (ids) answered += 1
      // In the midst of it: three requests are under way on other connections.
      if (answered === batches / 3) child.kill('SIGKILL')
    }
  }
  await Promise.all(Array.from({ length: 4 }, worker))
  expect(child.signalCode ?? (await once(child, 'exit'))[1]).toBe('SIGKILL')
  expect(answered).toBeGreaterThanOrEqual(batches / 3)
  expect(answered).toBeLessThan(batches)

  const database = new DatabaseSync(path)
  expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  expect(database.prepare('pragma foreign_key_check').all()).toEqual([])
  const { rows } =
    database.prepare(`select count(*) as rows from users where email like 'user-%'`).get() ?? {}
  // Whole batches only, none of them half.
  expect(Number(rows) % size).toBe(0)
  database.close()

  const again = await startServer(path)
  for (const [number, ids] of answers.entries()) {
    const repeated = await send(again.address, key, number)
    expect(new Set(repeated).size).toBe(size)
    if (ids) expect(repeated).toEqual(ids)
  }
  const total = await again.fetch('/v1/users?q=user-&include_total=true', {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(await total.json()).toMatchObject({ total: batches * size })
  await again.stop()
})
