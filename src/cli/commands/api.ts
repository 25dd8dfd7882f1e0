import type { StreamedResponse } from '../../client/reply.ts'
import type { RawRequest } from '../../client/request.ts'
import { escapeHidden } from '../../codec/display-text.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { textsIn } from '../command/flag.ts'
import { applyFields } from '../operation/document.ts'
import { showRequest } from '../operation/dry-run.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

export const command: Command = {
  name: 'api',
  summary: 'Send any request to the API',
  writes: ['academy'],
  prints: ['AnyJson'],
  exits: ['partial'],
  destructive: true,
  description:
    'Takes a method and a path, or the name of an operation and its path parameters.\nThe field values true, false, null and numbers are sent as JSON, @file as the contents\nof that file, and "…" always as text. Names can be nested: profile.firstName=Ada, tags[]=go.',
  arguments: [{ name: 'request', summary: 'METHOD /path, or an operation such as courses.get', rest: true }],
  flags: [
    { name: 'query', kind: 'texts', placeholder: 'name=value', summary: 'Query parameter' },
    {
      name: 'field',
      kind: 'texts',
      placeholder: 'name=value',
      summary: 'Field of the body',
    },
    {
      name: 'body',
      kind: 'text',
      placeholder: '@file|-',
      file: 'read',
      summary: 'Body, from a JSON or YAML file or standard input',
    },
    { name: 'header', kind: 'texts', placeholder: 'Name: value', summary: 'Header' },
  ],
  refuses: { limit: 'Use --query limit=<number>' },
  examples: [
    'api GET /v1/courses --query status=published',
    'api courses.get ext:AAA-2014J',
    'api POST /v1/courses --field title=Go --field tags[]=code --field durationMinutes=90',
  ],
  run,
}

async function run(context: Context, given: Given): Promise<void> {
  const { session, settings, io } = context
  const { calls } = await import('../../contract/calls.ts')
  const operations = Object.values(calls).flatMap((group) => Object.values<Operation>(group))
  const request = await requestOf(context, given, operations)
  const path = request.path.split('?', 1)[0]
  const anonymous = operations.some((operation) => operation.scope === null && operation.path === path)
  const caller = await session.caller({ anonymous })
  if (settings.dryRun.value) return showRequest(context, caller.rawRequest(request))
  if (settings.all.value) return printAll(context, request)
  const reply = await caller.send({ ...request, signal: io.signal })
  if (reply.status === 204) return
  const answer = await printBody(context, request, reply)
  const batch = operations.some(({ id, path }) => path === request.path && id.endsWith('.batch'))
  if (batch) assertAllSucceeded(answer)
}

/** Throws a CommandError if items of a batch failed, although the request succeeded. */
function assertAllSucceeded(answer: unknown): void {
  const results = isJsonObject(answer) && Array.isArray(answer['results']) ? answer['results'] : []
  const failed = results.filter((item) => isJsonObject(item) && Number(item['status']) >= 400).length
  if (failed === 0) return
  throw new CommandError('partial', 'partial', `${failed} of ${results.length} items failed`)
}

async function requestOf(
  { io }: Context,
  { rest, flags }: Given,
  operations: readonly Operation[],
): Promise<RawRequest> {
  const { method, path } = targetOf(rest, operations)
  const query = Object.fromEntries(textsIn(flags, 'query').map((text) => split(text, '=', '--query')))
  const headers = Object.fromEntries(textsIn(flags, 'header').map((text) => split(text, ':', '--header')))
  const body = await applyFields(io, flags['body'], textsIn(flags, 'field'))
  if (body !== undefined && method === 'GET') {
    throw new UsageError('A GET request cannot have a body', {
      hint: 'Send parameters with --query name=value',
    })
  }
  if (body === undefined) return { method, path, query, headers }
  const { encodeBody } = await import('../../client/request.ts')
  return { method, path, query, headers, body: encodeBody(body) }
}

function targetOf(
  words: readonly string[],
  operations: readonly Operation[],
): { method: string; path: string } {
  const [first = '', second, ...more] = words
  if (second?.startsWith('/')) {
    if (!/^[A-Za-z]+$/.test(first)) throw new UsageError(`${JSON.stringify(first)} is not an HTTP method`)
    if (more.length > 0) throw new UsageError(`Unexpected argument after the path: ${more.join(' ')}`)
    return { method: first.toUpperCase(), path: second }
  }
  const operation = operations.find(({ id }) => id === first)
  if (!operation) {
    throw new UsageError(
      `Unknown operation ${JSON.stringify(words.join(' '))}; use METHOD /path or an operation`,
      {
        code: 'unknown_operation',
        hint: 'Example: learnctl api GET /v1/courses',
        choice: { given: first, valid: operations.map(({ id }) => id) },
      },
    )
  }
  const values = words.slice(1)
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  if (names.length !== values.length) {
    const wanted = names.length === 0 ? 'no parameters' : names.map((name) => `<${name}>`).join(' ')
    throw new UsageError(`${operation.id} requires ${wanted}`)
  }
  const path = names.reduce(
    (filled, name, index) => filled.replace(`{${name}}`, () => encodeURIComponent(values[index] ?? '')),
    operation.path as string,
  )
  return { method: operation.method, path }
}

async function printAll(
  { session, output, io }: Context,
  { method, path, query }: RawRequest,
): Promise<void> {
  if (method !== 'GET') throw new UsageError('--all requires GET')
  const caller = await session.caller()
  const list: Operation = {
    id: path,
    method: 'GET',
    path: `/${path.slice(1)}`,
    summary: '',
    published: false,
    scope: 'read',
    roles: [],
    response: null,
    status: 200,
    list: true,
  }
  const pages = caller.pages(list, { ...(query && { query }), signal: io.signal })
  async function* rowsOf(received: AsyncIterable<{ readonly data: readonly unknown[] }>) {
    for await (const page of received) yield page.data
  }
  const { printUntilError } = await import('../operation/print-list.ts')
  await printUntilError(pages, (received) => output.documents(rowsOf(received)))
}

async function printBody(
  { output, io, settings }: Context,
  { method, path }: RawRequest,
  reply: StreamedResponse,
): Promise<unknown> {
  const { mediaTypeOf, readJson } = await import('../../client/reply.ts')
  if (/\bjson$/.test(mediaTypeOf(reply))) {
    const value = await readJson({ method, url: `http://localhost${path}` }, reply)
    if (settings.quiet.value)
      await output.text(
        idsIn(value)
          .map((id) => `${escapeHidden(id)}\n`)
          .join(''),
      )
    else if (settings.columns.value === null) await output.document(value)
    else await output.one(value, (await import('../output/output.ts')).shapeOfValue(value, []))
    return value
  }
  async function* pieces() {
    for await (const piece of reply.body ?? []) {
      io.signal.throwIfAborted()
      yield piece
    }
  }
  await output.exact(pieces())
  return undefined
}

function idsIn(value: unknown): string[] {
  if (!isJsonObject(value)) return []
  const { id, data, results } = value
  if (typeof id === 'string') return [id]
  return [data, results].flatMap((list) => (Array.isArray(list) ? list.flatMap(idsIn) : []))
}

function split(text: string, mark: string, flag: string): [string, string] {
  const at = text.indexOf(mark)
  if (at < 1) throw new UsageError(`${flag} must be name${mark}value, not ${JSON.stringify(text)}`)
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}
