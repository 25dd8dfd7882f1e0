import * as z from 'zod'
import { Reference, Time } from './field.ts'
import { LmsKind } from './integration.ts'
import { mappedNouns } from './integration-choices.ts'

export const MappedNoun = z.enum(mappedNouns)

/** A mapping, always sent as a whole. System, noun and key tell it from all others. */
export const MappingInput = z.strictObject({
  noun: MappedNoun,
  externalKey: z.string().min(1).max(255),
  reference: Reference,
})
export type MappingInput = z.output<typeof MappingInput>

export const Mapping = z.object({
  id: z.string(),
  lmsKind: LmsKind,
  noun: MappedNoun,
  externalKey: z.string(),
  reference: z.string(),
  name: z.string().nullable(),
  targetStatus: z.enum(['active', 'deleted']),
  version: z.int(),
  createdAt: Time,
  updatedAt: Time,
})
export type Mapping = z.output<typeof Mapping>
