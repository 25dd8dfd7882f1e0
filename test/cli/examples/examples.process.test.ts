import { describe } from 'vitest'
import { testExamples } from '../../helpers/help-examples.ts'

describe('examples in help', () => testExamples('processes'))
