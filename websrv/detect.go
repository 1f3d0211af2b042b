package websrv

func metaRefresh(a *answer) string { return "" }
