import { writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { offeredCommands } from '../../../src/cli/mcp/offered-commands.ts'
import type { JsonObject } from '../../../src/codec/json-text.ts'
import { splitWords } from '../../helpers/cli.ts'
import { McpProcess } from '../../helpers/mcp-client.ts'
import { files, test } from './writing-school.ts'

const minuteMs = 60_000

/** A line for every command that changes data. */
const lines = [
  'courses create --title Forest --external-id forest',
  'courses update ext:sea --language en',
  'courses publish ext:pond',
  'courses unpublish ext:hill',
  'courses restore ext:pond 1',
  'courses restore ext:gone',
  'courses archive ext:hill',
  'courses delete ext:hill',
  'courses apply --file course.yaml',
  'courses copy ext:sea --title "Sea again" --external-id sea2',
  'courses import courses.csv',
  'modules create --course ext:sea --title Extra',
  'modules rename Basics --course ext:sea --title Further',
  'modules move More --course ext:sea --position 1',
  'modules delete More --course ext:sea',
  'lessons create --course ext:sea --title Storms --external-id X',
  'lessons update ext:W --title "Big waves"',
  'lessons move ext:W --position 1',
  'lessons restore ext:W 1',
  'lessons delete ext:T',
  'lessons restore ext:F',
  'lessons import lessons.csv',
  'users create --email gus@school.example',
  'users update ext:A --last-name Byron',
  'users suspend ext:B',
  'users activate ext:E',
  'users restore ext:D',
  'users delete ext:C',
  'users import users.csv',
  'terms create --name "Spring 2026" --external-id 2026S',
  'terms update 2026A --name "Autumn term 2026"',
  'terms delete 1999A',
  'terms import terms.csv',
  'enrollments create --course ext:sea --user ext:B',
  'enrollments update --course ext:sea --user ext:A --status inactive',
  'enrollments delete --course ext:sea --user ext:A',
  'enrollments restore --course ext:pond --user ext:A',
  'enrollments import enrollments.csv',
  'groups create --name "Class 6a" --external-id 6a',
  'groups update 5b --name "Class 6b"',
  'groups delete 5b',
  'groups restore 5x',
  'groups import groups.csv',
  'groups members add 5b ext:A',
  'groups members remove 5b ext:C',
  'groups members import members.csv',
  'progress set ext:A --course ext:sea --completion 75',
  'progress import progress.csv',
  'grades set ext:A --course ext:sea --item exam --score 18 --maximum 20',
  'grades delete ext:A --course ext:sea --item exam',
  'grades import grades.csv',
  'apply academy.yaml',
  'roster apply roster --format canvas',
  'settings update --instructor-access all',
  'audit revert $LAST_ENTRY',
  'undo change last',
] as const

test('every command that changes data is tried', () => {
  const writing = [...offeredCommands].flatMap(([path, { access }]) => (access === 'write' ? [path] : []))
  expect(writing.filter((path) => !lines.some((line) => line.startsWith(`${path} `)))).toEqual([])
})

test.for(lines)(
  'data changes once confirmed: %s',
  async (line, { school: { cli, serve, rows, rowsNow } }) => {
    const entry = line.endsWith('$LAST_ENTRY') ? await cli.run('audit list --noun course --limit 1 -q') : null
    const argv = splitWords(`${line.replace('$LAST_ENTRY', entry?.stdout.trim() ?? '')} --yes`)
    const mcp = serve('--folder', 'shared', '--allow-writes')
    const plan = await mcp.run(argv)
    expect(plan.data, plan.text).toMatchObject({ planned: true })
    expect(rowsNow()).toBe(rows)
    const done = await mcp.run(argv, plan.data['confirm'])
    expect(done.data, done.text).toMatchObject({ exitCode: 0 })
    expect(rowsNow()).not.toBe(rows)
  },
)

test('no command changes data on a read-only server', async ({ school: { serve, rows, rowsNow } }) => {
  const mcp = serve('--folder', 'shared')
  for (const line of lines) {
    const { data } = await mcp.run([...splitWords(line), '--yes'])
    expect.soft(data, line).toEqual({ exitCode: 5, errorCode: 'read_only' })
  }
  expect(rowsNow()).toBe(rows)
})

describe('a digest carries out nothing', () => {
  const argv = ['users', 'import', 'users.csv']
  const refused = { exitCode: 6, errorCode: 'not_confirmed' }

  test('twice', async ({ school: { serve } }) => {
    const mcp = serve('--allow-writes')
    const line = ['courses', 'create', '--title', 'Forest']
    const { data } = await mcp.run(line)
    expect(await mcp.run(line, data['confirm'])).toMatchObject({ isError: false })
    expect((await mcp.run(line, data['confirm'])).data).toEqual(refused)
  })

  test('for other words, file or process', async ({ school: { serve, shared, rows, rowsNow } }) => {
    const mcp = serve('--allow-writes', '--folder', 'shared')
    const first = await mcp.run(argv)
    expect((await mcp.run(['courses', 'archive', 'ext:sea'], first.data['confirm'])).data).toEqual(refused)
    const second = await mcp.run(argv)
    writeFileSync(shared('users.csv'), `${files['users.csv']}mal@school.example,M,admin\n`)
    expect((await mcp.run(argv, second.data['confirm'])).data).toEqual(refused)
    const third = await mcp.run(argv)
    const other = serve('--allow-writes', '--folder', 'shared')
    expect((await other.run(argv, third.data['confirm'])).data).toEqual(refused)
    expect((await mcp.run(argv, 'a'.repeat(32))).data).toEqual(refused)
    expect(rowsNow()).toBe(rows)
  })

  test('and is kept, when it comes with other words', async ({ school: { serve } }) => {
    const mcp = serve('--allow-writes')
    const line = ['courses', 'delete', 'ext:hill']
    const { data } = await mcp.run(line)
    expect((await mcp.run(['courses', 'delete', 'ext:sea'], data['confirm'])).data).toEqual(refused)
    const done = await mcp.run(line, data['confirm'])
    expect(done.data).toMatchObject({ exitCode: 0 })
    expect(done.text).toMatch(/Carried out for:\n\{"id":"crs_\w+","externalId":"hill","title":"Hill"/)
  })

  test('after ten minutes', async ({ school: { serve, time, rows, rowsNow } }) => {
    const mcp = serve('--allow-writes')
    const line = ['courses', 'archive', 'ext:sea']
    const { data } = await mcp.run(line)
    time.ms += 10 * minuteMs
    expect((await mcp.run(line, data['confirm'])).data).toEqual(refused)
    expect(rowsNow()).toBe(rows)
  })

  test('if another plan of many records would be carried out by now', async ({ school: { cli, serve } }) => {
    const mcp = serve('--allow-writes', '--folder', 'shared')
    const line = ['apply', 'academy.yaml']
    const { data } = await mcp.run(line)
    await cli.run('apply shared/academy.yaml --yes')
    const late = await mcp.run(line, data['confirm'])
    expect(late).toMatchObject({ isError: true, data: refused })
    expect(late.text).toContain('The plan no longer fits')
  })

  test('if the active profile has changed', async ({ school: { cli } }) => {
    for (const name of ['one', 'two']) await cli.run(`profiles add ${name} --database academy.db`)
    await cli.run('profiles use one')
    const mcp = new McpProcess(cli, ['--allow-writes'], { env: { HOME: cli.home } })
    const line = ['courses', 'archive', 'ext:sea']
    const { data } = await mcp.run(line)
    await cli.run('profiles use two')
    expect((await mcp.run(line, data['confirm'])).data).toEqual(refused)
    await mcp.end()
  })
})

const line = ['courses', 'archive', 'ext:hill']

test.for(['decline', 'cancel', 'accept'])(
  'a client that can ask its user answers with %s',
  async (action, { school: { serve, rows, rowsNow } }) => {
    const mcp = serve('--allow-writes')
    const questions: string[] = []
    mcp.onLine = (text) => {
      const { id, method, params } = JSON.parse(text)
      if (method !== 'elicitation/create') return
      expect(params).toMatchObject({ mode: 'form', requestedSchema: { type: 'object', properties: {} } })
      questions.push(params.message)
      mcp.write(JSON.stringify({ jsonrpc: '2.0', id, result: { action } }))
    }
    await mcp.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'test', version: '1' },
    })
    const run = async (confirm?: unknown) => {
      const input = { argv: line, ...(confirm !== undefined && { confirm }) }
      const { result } = await mcp.request('tools/call', { name: 'run', arguments: input })
      return (result as JsonObject)['structuredContent'] as JsonObject
    }
    const plan = await run()
    expect(questions).toEqual([])
    const done = await run(plan['confirm'])
    expect(questions).toEqual([
      expect.stringMatching(/^Carry out this change\? 1 step:\nlearnctl courses archive ext:hill\n\{/),
    ])
    expect(done['exitCode']).toBe(action === 'accept' ? 0 : 6)
    expect(rowsNow() === rows).toBe(action !== 'accept')
  },
)
