import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import {
  choiceComponents,
  documentSchemas,
  type Named,
  responseComponents,
  simplifyKeywords,
} from '../../contract/openapi/schemas.ts'
import { version } from '../../contract/version.ts'
import type { Command, NamedCommand } from '../command/command.ts'
import { effects } from '../command/flag.ts'
import { datasetNames, recordName } from '../dataset/dataset.ts'
import { loadDataset } from '../dataset/load-dataset.ts'
import {
  describeCommand,
  describeGlobalFlags,
  printedBy,
  type Schema,
  schemaOfPrinted,
  schemaPlace,
} from '../help/describe-command.ts'
import { environmentRows } from '../help/help-topics.ts'
import { type ExitName, exitCodes, UsageError } from '../terminal/errors.ts'
import { recordResults } from './record-results.ts'
import { helpResult } from './result.ts'
import { setupResults } from './setup-results.ts'

const place = '#/$defs/'
const placeInOpenapi = '#/components/schemas/'

/** Throws a UsageError if the command prints no JSON. */
export async function schemaText(command: Command, name: string): Promise<string> {
  const printed = await printedBy(command)
  if (printed.length > 0) return `${JSON.stringify(await outputSchema(printed), null, 2)}\n`
  throw new UsageError(`--schema is not supported by \`${name}\``, {
    code: 'unsupported_flag',
    why: ['It prints no JSON'],
  })
}

/** Returns the JSON Schema (draft 2020-12) of what a command prints, with all that it refers to. */
async function outputSchema(printed: readonly string[]): Promise<Schema> {
  const schema = schemaOfPrinted(printed, place)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...schema,
    $defs: neededBy(schema, await resultSchemas(place)),
  }
}

/** Includes schemas that are referred to indirectly. */
function neededBy(schema: unknown, all: Readonly<Record<string, Schema>>): Record<string, Schema> {
  const needed = new Map<string, Schema>()
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit)
    if (!isJsonObject(value)) return
    const { $ref } = value
    const name = typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined
    const found = name === undefined ? undefined : all[name]
    if (name !== undefined && found && !needed.has(name)) {
      needed.set(name, found)
      visit(found)
    }
    Object.values(value).forEach(visit)
  }
  visit(schema)
  return Object.fromEntries([...needed].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** `place` of the schemas in a document: `#/$defs/`. */
export async function resultSchemas(place: string): Promise<Readonly<Record<string, Schema>>> {
  const datasets = await Promise.all(datasetNames.map(loadDataset))
  const own: Named = {
    ...recordResults,
    ...setupResults,
    Help: helpResult,
    ...Object.fromEntries(datasets.map(({ name, schema }) => [recordName(name), schema])),
  }
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries({ ...choiceComponents, ...responseComponents, ...own })) {
    registry.add(schema, { id })
  }
  const made = z.toJSONSchema(registry, {
    io: 'input',
    unrepresentable: 'any',
    uri: (name) => `${placeInOpenapi}${name}`,
    override: simplifyKeywords,
  }).schemas
  const ofProgram = Object.keys(own).map((name) => {
    // An export may have more columns than an import takes.
    const { $schema, $id, additionalProperties, ...schema } = made[name] ?? {}
    return [name, { ...schema, ...(additionalProperties && { additionalProperties }) } as Schema] as const
  })
  const { components } = documentSchemas()
  return moved({ ...components, ...Object.fromEntries(ofProgram) }, place)
}

function moved<Value>(value: Value, place: string): Value {
  if (Array.isArray(value)) return value.map((item) => moved(item, place)) as Value
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).map(([name, member]) => [
    name,
    name === '$ref' && typeof member === 'string'
      ? member.replace(placeInOpenapi, place)
      : moved(member, place),
  ])
  return Object.fromEntries(members) as Value & JsonObject
}

/** Increased if something is removed or changes its meaning. */
const helpForm = 1

export async function helpDocument(commands: readonly NamedCommand[]) {
  const described = await Promise.all(
    commands.map(({ path, command, aliases }) => describeCommand(path, command, aliases)),
  )
  const shared = ['Error', 'Request'].map((name) => ({ $ref: `${schemaPlace}${name}` }))
  const outputs = [...shared, ...described.map(({ output }) => output)]
  return {
    form: helpForm,
    program: 'learnctl',
    version,
    effects,
    exitCodes: Object.entries(exitCodes).map(([name, { code, when }]) => ({
      code,
      name: name as ExitName,
      when,
    })),
    globalFlags: describeGlobalFlags(),
    environment: environmentRows().map(([variable, meaning]) => ({ variable, meaning })),
    commands: described,
    schemas: neededBy(outputs, await resultSchemas(schemaPlace)),
  }
}
