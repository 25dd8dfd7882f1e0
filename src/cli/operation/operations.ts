import { calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'

export const operations = Object.values(calls).flatMap((group) => Object.values<Operation>(group))
