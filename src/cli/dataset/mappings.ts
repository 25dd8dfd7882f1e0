import { calls } from '../../contract/calls.ts'
import { MappingInput } from '../../contract/integrations.ts'
import { columnsOf } from './column.ts'
import type { Dataset } from './dataset.ts'
import { ofFields } from './names.ts'

const { mappings, map, mapBatch, unmap } = calls.integrations

/** Mappings of one kind of system, matched by noun and key; always sent as wholes. */
export function mappingsOf(lmsKind: string): Dataset {
  const of = <O extends { readonly path: string }>(operation: O): O => ({
    ...operation,
    path: operation.path.replace('{lmsKind}', encodeURIComponent(lmsKind)),
  })
  return {
    name: 'mappings',
    noun: 'mapping',
    schema: MappingInput,
    columns: columnsOf(MappingInput),
    keys: [['noun', 'externalKey']],
    references: {},
    refersTo: ({ noun }) => ({ field: 'reference', to: noun === 'user' ? 'users' : 'courses' }),
    operations: {
      list: of(mappings),
      create: of(map),
      delete: of(unmap),
      batch: of(mapBatch),
      params: ({ id }) => (id === undefined ? {} : { mappingId: String(id) }),
    },
    find: ({ noun, externalKey }) => ({
      query: { noun: String(noun), external_key: String(externalKey) },
      matches: (shown) => shown['noun'] === noun && shown['externalKey'] === externalKey,
    }),
    toRecord: async (shown) => ofFields(MappingInput, shown),
    toBody: async (record) => record,
  }
}
