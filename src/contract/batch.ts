import * as z from 'zod'
import { field, named, sent, shown } from './fields.ts'

const maxBatchSize = 1000

export const OnExists = z.enum(['fail', 'update', 'skip'])

type Existing = z.output<typeof OnExists>

/** Members of every batch operation. Each item succeeds or fails on its own; `name` is that of the component of its body. */
export function batchOf<Item extends z.ZodType>(item: Item, onExists: Existing, name: string) {
  const says = 'Up to 1,000 items, each of which succeeds or fails on its own'
  return {
    body: named(name, says, batchSchema(item, onExists)),
    response: BatchResult,
    status: 200,
    report: true,
  } as const
}

export function batchSchema<Item extends z.ZodType>(item: Item, onExists: Existing) {
  return sent({
    items: field(z.array(item).max(maxBatchSize), 'The items, in the order of the results'),
    onExists: field(
      OnExists.default(onExists),
      'What to do with an item that already exists: fail with 409, update it, or skip it',
    ),
  })
}

const Result = shown(() => ({
  index: field(z.int(), 'Index of the item in the request, from 0'),
  status: field(
    z.int(),
    'Status of the item: 201 created, 200 updated or unchanged, otherwise the error status',
  ),
  id: field(z.string().optional(), 'Id of the record; absent if there is none'),
  code: field(
    z.string().optional(),
    'unchanged, skipped, a warning such as unweighted, or the error code; absent if the item was created or updated',
  ),
  detail: field(z.string().optional(), 'What went wrong, or the warning, as a sentence'),
  errors: field(
    z
      .array(
        shown(() => ({
          pointer: field(z.string(), 'JSON Pointer to the field (RFC 6901) in the item, such as #/email'),
          code: field(z.string(), 'Code of the problem, for programs'),
          detail: field(z.string(), 'What is wrong with the field, continuing its name'),
        })),
      )
      .optional(),
    'All problems of the item',
  ),
}))

/** Results in the order of the items: the status that each would have had alone, its id, or its problems. */
export const BatchResult = named(
  'BatchResult',
  'The results of a batch: one for each item, in the same order',
  shown(() => ({ results: field(z.array(Result), 'One result for each item') })),
)
export type BatchResult = z.output<typeof BatchResult>
