package claude

import "testing"

// Every policy that has a name is accepted, and no other.
func TestStoreFlushIsChecked(t *testing.T) {
	for flush, ok := range map[StoreFlush]bool{"": true, FlushBatched: true, FlushEager: true, "sometimes": false} {
		if err := (&Options{SessionStoreFlush: flush}).Check(); (err == nil) != ok {
			t.Errorf("SessionStoreFlush %q: %v", flush, err)
		}
	}
}
