import * as z from 'zod'
import { BatchResult, batchOf } from './batch.ts'
import { exactly, ofCourse, ofUser, period, UpdatedSince } from './field.ts'
import { inPeriod, updatedSince } from './filter.ts'
import { Integration, IntegrationCheck, IntegrationPatch } from './integration.ts'
import { mappedNouns } from './integration-choices.ts'
import { MappedNoun, Mapping, MappingInput } from './mapping.ts'
import { admins, operationsOf } from './operation.ts'
import { page, paging } from './page.ts'

/** The connections to other learning management systems, for admins. */
export const integrations = operationsOf('integrations', {
  list: {
    at: 'GET /v1/integrations',
    summary: 'List integrations',
    scope: 'admin',
    roles: admins,
    query: z.strictObject({ ...period('Created'), updated_since: UpdatedSince, ...paging }),
    response: page(Integration, 'integrations'),
    list: true,
    filters: { ...inPeriod('createdAt'), updated_since: updatedSince },
    identifier: 'lmsKind',
  },
  get: {
    at: 'GET /v1/integrations/{lmsKind}',
    summary: 'Show an integration',
    scope: 'admin',
    roles: admins,
    response: Integration,
    identifier: 'lmsKind',
  },
  set: {
    at: 'PUT /v1/integrations/{lmsKind}',
    summary: 'Create or update an integration',
    scope: 'admin',
    roles: admins,
    body: IntegrationPatch,
    merge: true,
    response: Integration,
    identifier: 'lmsKind',
  },
  remove: {
    at: 'DELETE /v1/integrations/{lmsKind}',
    summary: 'Delete an integration',
    scope: 'admin',
    roles: admins,
    response: null,
  },
  test: {
    at: 'POST /v1/integrations/{lmsKind}/test',
    summary: 'Check the connection to the other system',
    scope: 'admin',
    roles: admins,
    response: IntegrationCheck,
    status: 200,
    report: true,
  },
  mappings: {
    at: 'GET /v1/integrations/{lmsKind}/mappings',
    summary: 'List mappings of courses and users',
    scope: 'admin',
    roles: admins,
    query: z.strictObject({
      noun: MappedNoun.optional().meta({ description: 'Filter by noun' }),
      external_key: exactly('key in the other system'),
      course_id: ofCourse,
      user_id: ofUser,
      ...period('Created'),
      updated_since: UpdatedSince,
      ...paging,
    }),
    response: page(Mapping, 'mappings'),
    list: true,
    filters: {
      noun: { by: 'choice', field: 'noun', choices: mappedNouns },
      external_key: { by: 'equal', field: 'externalKey' },
      course_id: { by: 'reference', field: 'reference', to: 'courseId' },
      user_id: { by: 'reference', field: 'reference', to: 'userId' },
      ...inPeriod('createdAt'),
      updated_since: updatedSince,
    },
  },
  mapping: {
    at: 'GET /v1/integrations/{lmsKind}/mappings/{mappingId}',
    summary: 'Show a mapping',
    scope: 'admin',
    roles: admins,
    response: Mapping,
  },
  map: {
    at: 'PUT /v1/integrations/{lmsKind}/mappings',
    summary: 'Map a course or user of the other system',
    scope: 'admin',
    roles: admins,
    body: MappingInput,
    response: Mapping,
  },
  mapBatch: {
    at: 'POST /v1/integrations/{lmsKind}/mappings/batch',
    summary: 'Record up to 1,000 mappings',
    scope: 'admin',
    roles: admins,
    body: batchOf(MappingInput, 'update', 'MappingBatch'),
    response: BatchResult,
    status: 200,
    report: true,
  },
  unmap: {
    at: 'DELETE /v1/integrations/{lmsKind}/mappings/{mappingId}',
    summary: 'Delete a mapping',
    scope: 'admin',
    roles: admins,
    response: null,
  },
})
