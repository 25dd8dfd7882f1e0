import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { beforeAll, describe, expect } from 'vitest'
import { operations } from '../../src/contract/index.ts'
import { operationExamples } from '../../src/contract/openapi/examples.ts'
import { freshDirectory } from '../helpers/academy.ts'
import { test } from '../helpers/cli.ts'
import { folder, isInstalled, writeDocument } from './installed.ts'

let url = ''

/** Starts Prism with the document on a free loopback port; returns what ends it. */
async function startMock(): Promise<() => void> {
  const { path, remove } = freshDirectory()
  const script = join(folder, 'node_modules/@stoplight/prism-cli/dist/index.js')
  const mock = spawn(
    process.execPath,
    [script, 'mock', writeDocument(path), '--port', '0', '--host', '127.0.0.1'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let printed = ''
  url = await new Promise<string>((resolve, reject) => {
    mock.stdout.on('data', (data) => {
      printed += data
      const [, address] =
        /Prism is listening on (http:[\d.:/]+)/.exec(stripVTControlCharacters(printed)) ?? []
      if (address) resolve(address)
    })
    mock.once('exit', () => reject(new Error(`Prism ended:\n${printed}`)))
  })
  return () => {
    mock.kill()
    remove()
  }
}

const commands = [
  'courses list --all',
  'courses list --status draft,published --limit 3 --sort title',
  'courses get ext:AAA-2013J',
  'courses create --title Sea',
  'courses publish ext:AAA-2013J',
  'courses versions ext:AAA-2013J --all',
  'courses restore ext:AAA-2013J 1 --yes',
  'lessons update ext:AAA-2013J-1752 --title First',
  'users delete ext:11391 --yes',
  'users me',
  'enrollments create --course ext:AAA-2013J --user ext:11391',
  'progress set ext:11391 --course ext:AAA-2013J --completion 75 --last-accessed 2014-01-10T12:00:00Z',
  'progress history ext:11391 --course ext:AAA-2013J --all',
  'analytics export',
  'analytics export --format json',
  'analytics summary',
  'keys create --name ci',
  'auth status',
  'doctor',
]

describe.runIf(isInstalled)('Prism, a mock that is made from the document alone,', () => {
  beforeAll(startMock)

  test.for(commands)('answers %s', async (line, { cli }) => {
    const env = { LEARNCTL_URL: url, LEARNCTL_API_KEY: 'lpk_mock' }
    const { code, stderr } = await cli.run(line, { env })
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('error:') })
  })

  test('answers courses diff, whose versions differ', async ({ cli }) => {
    const env = { LEARNCTL_URL: url, LEARNCTL_API_KEY: 'lpk_mock' }
    expect(await cli.run('courses diff ext:AAA-2013J 1', { env })).toMatchObject({ code: 9, stderr: '' })
  })

  test.for(operations)('answers api $id', async ({ id, method, path }, { cli }) => {
    const env = { LEARNCTL_URL: url, LEARNCTL_API_KEY: 'lpk_mock' }
    const { parameters = {}, body } = operationExamples[id] ?? {}
    const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(parameters[name] ?? ''),
    )
    const query = Object.entries(parameters).flatMap(([name, value]) =>
      path.includes(`{${name}}`) ? [] : ['--query', `${name}=${value}`],
    )
    const sent = body === undefined ? [] : ['--body', '-']
    const stdin = body === undefined ? '' : JSON.stringify(body)
    const ran = await cli.run(['api', method, target, ...query, ...sent, '--yes'], { env, stdin })
    // The examples of these batches contain a refused item.
    const code = ['users.batch', 'progress.batch', 'grades.batch'].includes(id) ? 8 : 0
    expect(ran).toMatchObject({ code })
  })
})
