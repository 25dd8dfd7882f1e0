import * as z from 'zod'
import { responseComponents } from '../../contract/openapi/schemas.ts'

export const text = z.string()

export const count = z.int().min(0)

/** `others` are values of further fields. */
export function result(says: string, shape: z.core.$ZodLooseShape, others?: z.ZodType): z.ZodType {
  const object = z.object(shape)
  return (others ? object.catchall(others) : object).meta({ description: says })
}

/** `name` is that in the OpenAPI document. Throws if there is none. */
export function shown(name: string): z.ZodType {
  const schema = responseComponents[name]
  if (schema) return schema
  throw new Error(`${name} is not a response of the API`)
}

const effects = z.array(z.enum(['academy', 'elsewhere', 'files', 'machine']))
const type = z.enum(['string', 'number', 'boolean', 'time', 'duration'])
const file = z.enum(['read', 'write', 'both']).optional().describe('What is done with the file that it names')
const schema = z.looseObject({})

const argument = z.object({
  name: text,
  meaning: text,
  type,
  required: z.boolean(),
  repeatable: z.literal(true).optional(),
  choices: z.array(text).optional(),
  file,
  replacedBy: z.array(text).optional().describe('Flags that can replace it'),
})

const flag = z.object({
  name: text.describe('With its dashes'),
  short: text.optional(),
  meaning: text,
  type,
  placeholder: text.optional(),
  required: z.boolean(),
  requiredWithout: text.optional().describe('Flag that makes a required one optional'),
  repeatable: z.literal(true).optional(),
  commas: z.literal(true).optional().describe('Several values can be separated by commas'),
  choices: z.array(text).optional(),
  default: text.optional(),
  off: text.optional().describe('Flag that turns it off'),
  null: text.optional().describe('Word that stands for null'),
  file,
  writes: effects.optional().describe('Kinds of change that this flag adds to those of the command'),
  destructive: z.literal(true).optional(),
  variable: text.optional().describe('Environment variable that sets it'),
  inProjectFile: z.literal(true).optional(),
  alsoAccepted: z.array(text).optional(),
})

const command = z.object({
  command: text.describe('Words after learnctl'),
  aliases: z.array(text),
  usage: text,
  summary: text,
  description: text.optional(),
  arguments: z.array(argument),
  flags: z.array(flag),
  refusedFlags: z.array(text).describe('Global flags that it refuses'),
  usesAcademy: z.boolean(),
  writes: effects.describe('Kinds of change that it makes without further flags'),
  destructive: z.boolean().describe('Deletes or replaces data'),
  confirms: z.boolean().describe('May ask for confirmation, which --yes gives'),
  operation: z.object({ id: text, method: text, path: text }).nullable(),
  output: schema.nullable().describe('JSON Schema of what it prints with -o json'),
  formats: z.array(text),
  exitCodes: z.array(z.int()),
  examples: z.array(text),
})

export const helpResult = result('Commands as data', {
  form: z.literal(1).describe('Version of this form'),
  program: z.literal('learnctl'),
  version: text,
  effects: z.record(z.string(), text),
  exitCodes: z.array(z.object({ code: z.int(), name: text, when: text })),
  globalFlags: z.array(flag),
  environment: z.array(z.object({ variable: text, meaning: text })),
  commands: z.array(command),
  schemas: z.record(z.string(), schema).describe('Schemas that outputs refer to, by name'),
})
