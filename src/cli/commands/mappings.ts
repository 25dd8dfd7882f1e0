import { isJsonObject } from '../../codec/json-text.ts'
import { mappedNouns } from '../../contract/constants.ts'
import { valueAt } from '../../tables/column.ts'
import type { Argument, Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { call } from '../operation/operation-command.ts'
import { UsageError } from '../terminal/errors.ts'
import { importFlags, importRecords } from './import.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.integrations

const noun: Argument = { name: 'noun', summary: 'What is mapped: course or user', choices: mappedNouns }
const key: Argument = { name: 'key', summary: 'Id of the course or user in the other system' }
const reference: Argument = {
  name: 'reference',
  summary: 'Course: id or external id; user: id, external id or e-mail address',
}
const columns = ['noun', 'externalKey', 'name', 'targetStatus', 'reference', 'id']

export function mapCommand(kind: Argument): Command {
  const instead = { instead: ['file', 'plan'] as const }
  return {
    name: 'map',
    summary: 'Map a course or user of the other system',
    writes: ['academy', 'files'],
    prints: ['Mapping', 'ImportReport', 'PlannedRow[]'],
    exits: ['partial'],
    description: `Events of the other system name courses and users by its own ids. Without a mapping they are matched by external id or
e-mail address. A second mapping with the same key replaces the first.

With --file, mappings come from a CSV, JSON or JSONL file with the columns noun, externalKey and reference; - reads
standard input. All rows are checked before anything is sent; --dry-run shows what would happen to each.`,
    arguments: [kind, { ...noun, ...instead }, { ...key, ...instead }, { ...reference, ...instead }],
    flags: [
      {
        name: 'file',
        kind: 'text',
        placeholder: 'path',
        file: 'read',
        summary: 'File of mappings; - for standard input',
      },
      ...importFlags,
    ],
    examples: [
      'integrations map canvas course 21070000000000565 ext:AAA-2013J',
      'integrations map moodle user 15 email:oulad-11391@example.org',
      'integrations map moodle --file mappings.csv',
    ],
    interruption: 'explained',
    run: runMap,
  }
}

async function runMap(context: Context, given: Given): Promise<void> {
  const { flags, arguments: named } = given
  if (flags['file'] !== undefined || flags['plan'] !== undefined) return mapFile(context, given)
  const unsupported = importFlags.find(({ name }) => flags[name] !== undefined && flags[name] !== false)
  if (unsupported) throw new UsageError(`--${unsupported.name} requires --file`)
  const one = call({
    name: 'map',
    summary: '',
    operation: async () => (await contract()).map,
    arguments: { lmsKind: { name: 'kind', summary: '' } },
    fixed: {
      // The server validates the noun.
      noun: named['noun'] as (typeof mappedNouns)[number],
      externalKey: named['key'] ?? '',
      reference: named['reference'] ?? '',
    },
    columns,
    done: (answer) =>
      `Mapped ${named['noun']} ${named['key']} of ${named['kind']} to ${valueAt(answer, 'name') ?? named['reference']} (${valueAt(answer, 'reference')})`,
  })
  await one.run(context, given)
}

async function mapFile(context: Context, given: Given): Promise<void> {
  const { noun: first, kind = '' } = given.arguments
  if (first !== undefined) throw new UsageError('--file cannot be used with a mapping as arguments')
  const { mappingsOf } = await import('../dataset/mappings.ts')
  const path = given.flags['file'] === undefined ? undefined : String(given.flags['file'])
  await importRecords(context, given, { dataset: mappingsOf(kind), path })
}

export function unmapCommand(kind: Argument): Command {
  return {
    name: 'unmap',
    summary: 'Delete a mapping',
    writes: ['academy'],
    prints: [],
    destructive: true,
    arguments: [kind, noun, key],
    examples: ['integrations unmap canvas course 21070000000000565'],
    run: runUnmap,
  }
}

async function runUnmap(context: Context, given: Given): Promise<void> {
  const { session, settings, io, output } = context
  const { kind = '', noun = '', key = '' } = given.arguments
  const { mappings, unmap: remove } = await contract()
  const caller = await session.caller()
  const { data } = await caller.call(mappings, {
    params: { lmsKind: kind },
    // The server validates the noun.
    query: { noun: noun as (typeof mappedNouns)[number], external_key: key },
    signal: io.signal,
  })
  const found = data.data.find((one) => isJsonObject(one) && one.noun === noun && one.externalKey === key)
  if (!found) {
    const { CommandError } = await import('../terminal/errors.ts')
    throw new CommandError('not_found', 'notFound', `Mapping of ${noun} ${key} of ${kind} not found`, {
      hint: `List them with: learnctl integrations mappings ${kind}`,
    })
  }
  const input = { params: { lmsKind: kind, mappingId: found.id }, signal: io.signal }
  if (settings.dryRun.value) {
    const { showRequests } = await import('../operation/dry-run.ts')
    return showRequests(context, [caller.request(remove, input)])
  }
  await caller.call(remove, input)
  await output.done(`Deleted the mapping of ${noun} ${key} of ${kind} to ${found.name ?? found.reference}`)
}
